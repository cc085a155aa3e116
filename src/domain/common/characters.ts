/** Text lengths in Unicode characters. Pure. */

/** Number of Unicode characters (code points): an emoji counts as one, where JavaScript's `length` counts two. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (text.charCodeAt(index) < 0xd800 || text.charCodeAt(index) > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count -= 1;
    index += 1;
  }
  return count;
}

/** Whether the texts have more than `limit` characters together. Short texts are decided without scanning. */
export function areLongerThan(texts: readonly string[], limit: number): boolean {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  return units > limit && texts.reduce((sum, text) => sum + characterCount(text), 0) > limit;
}
