/** What to say of something that was thrown, whatever it is. Never throws. */
export function errorText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    // An object that cannot be text; its kind is all there is to say.
    return `an ${typeof error} without words`;
  }
}
