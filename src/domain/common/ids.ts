/** Codec of public ids, `<kind>_<value>`. Clients treat them as opaque. */

/** Each kind with the format of its value. */
const KINDS = {
  chat: "uuid",
  msg: "number",
  que: "uuid",
  user: "uuid",
  prov: "uuid",
  model: "uuid",
  ws: "uuid",
  tpl: "uuid",
  file: "uuid",
  git: "uuid",
  mcp: "uuid",
  audit: "number",
  token: "uuid",
  push: "uuid",
} as const;

export type IdKind = keyof typeof KINDS;

const FORMS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  // Within what both int8 and a JavaScript number represent exactly.
  number: /^[1-9]\d{0,14}$/,
};

export function encodeId(kind: IdKind, value: string): string {
  return `${kind}_${value}`;
}

/** The database's value, or null when the id is malformed or of another kind. */
export function decodeId(kind: IdKind, id: string): string | null {
  const prefix = `${kind}_`;
  if (!id.startsWith(prefix)) return null;
  const value = id.slice(prefix.length);
  return FORMS[KINDS[kind]].test(value) ? value : null;
}

/** The kind that a well-formed id names, or null. */
export function kindOf(id: string): IdKind | null {
  for (const kind of Object.keys(KINDS) as IdKind[]) {
    if (decodeId(kind, id) !== null) return kind;
  }
  return null;
}
