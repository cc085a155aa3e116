/** Checks of a command's text: whether it belongs in the background, and whether it dumps files. Pure. */

/** A final `&` that is not part of `&&`, `|&`, `>&` or `<&`, and not escaped (by an odd number of backslashes). */
const TRAILING_AMPERSAND = /(?:^|[^&|<>\\])(?:\\\\)*&$/;

/**
 * Strips a final single `&`, which would return at once and leave an untracked process; the command is to be started in
 * the background properly instead.
 */
export function promoteBackground(command: string): { command: string; isBackground: boolean } {
  const trimmed = command.trim();
  const isBackground = TRAILING_AMPERSAND.test(trimmed);
  return isBackground ? { command: trimmed.slice(0, -1).trim(), isBackground } : { command, isBackground };
}

const FILE_DUMPS = [/^cat\s/, /^(?:rg|grep)\s.*--include-all\b/, /^(?:rg|grep)\s(?:.*\s)?-l\b/];

/** Advice for commands that print whole files, or undefined. */
export function fileDumpNote(command: string): string | undefined {
  const trimmed = command.trim();
  if (!FILE_DUMPS.some((pattern) => pattern.test(trimmed))) return undefined;
  return "To read a file use the read_file tool: it numbers the lines and reads them in parts.";
}
