/** What can be told from a command's text alone: whether it wants the background, whether it dumps files. Pure. */

/** A last `&` that is no half of `&&`, `|&`, `>&` or `<&`, and not escaped (by an odd number of backslashes). */
const TRAILING_AMPERSAND = /(?:^|[^&|<>\\])(?:\\\\)*&$/;

/**
 * A command that ends with a single `&` would return at once and leave a process that nobody can find again;
 * it is started in the background properly instead.
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
