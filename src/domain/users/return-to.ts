/** Validation of redirect targets. Pure. */

const MAX_CHARACTERS = 2_000;

/**
 * The absolute URL of a path on the public address, or of a URL on it or on an allowed origin. Null for anything else,
 * which would make the server an open redirect.
 */
export function readReturnTo(
  text: string,
  { publicUrl, allowedOrigins }: { publicUrl: string; allowedOrigins: readonly string[] },
): string | null {
  if (text.length > MAX_CHARACTERS || !URL.canParse(text, `${publicUrl}/`)) return null;
  // Text that only resembles an absolute URL is parsed differently by different browsers.
  if (!/^(?:https?:\/\/|\/(?![/\\]))[\x21-\x7e]*$/i.test(text)) return null;
  const url = new URL(text, `${publicUrl}/`);
  if (url.username !== "" || url.password !== "") return null;
  return [new URL(publicUrl).origin, ...allowedOrigins].includes(url.origin) ? url.href : null;
}
