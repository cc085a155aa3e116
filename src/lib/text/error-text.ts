/** The message of anything that was thrown. Never throws. */
export function errorText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    // An object that cannot be converted to a string.
    return `an ${typeof error} without a message`;
  }
}
