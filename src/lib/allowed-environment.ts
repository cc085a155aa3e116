/**
 * The variables that a program inherits when a model can choose what it does: an allow list, so that the
 * server keeps also those secrets that no list names. Pure.
 */

type Variables = Readonly<Record<string, string | undefined>>;

/** What programs need to find others, to speak the user's language and to reach the network. */
const ALLOWED =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_[A-Z]+|TZ|TERM|SSL_[A-Z0-9_]+|[A-Z0-9_]+_PROXY|[a-z0-9_]+_proxy)$/;

/** Never inherited, whatever the operator names: settings of Parley itself. */
const OWN = /^PARLEY_/i;

/**
 * The allowed part of `variables`, and what `named` names besides: each entry is a name, or the beginning of names
 * followed by `*`. Parley's own variables are never in it.
 */
export function allowedEnvironment(variables: Variables, named: readonly string[]): Record<string, string> {
  const isNamed = (name: string) =>
    named.some((it) => (it.endsWith("*") ? name.startsWith(it.slice(0, -1)) : it === name));
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || OWN.test(name)) continue;
    if (ALLOWED.test(name) || isNamed(name)) allowed[name] = value;
  }
  return allowed;
}
