/** Where a browser may be sent back to. Pure. */

const MAX_CHARACTERS = 2_000;

/**
 * A path on our own address, or a whole address on it or on an allowed origin; as a whole address. Null: anything else,
 * for it would lend our name to whoever wants to lead people elsewhere.
 */
export function readReturnTo(
  text: string,
  { publicUrl, allowedOrigins }: { publicUrl: string; allowedOrigins: readonly string[] },
): string | null {
  if (text.length > MAX_CHARACTERS || !URL.canParse(text, `${publicUrl}/`)) return null;
  // What begins like another address without being one is read in more ways than one.
  if (!/^(?:https?:\/\/|\/(?![/\\]))[\x21-\x7e]*$/i.test(text)) return null;
  const url = new URL(text, `${publicUrl}/`);
  if (url.username !== "" || url.password !== "") return null;
  return [new URL(publicUrl).origin, ...allowedOrigins].includes(url.origin) ? url.href : null;
}
