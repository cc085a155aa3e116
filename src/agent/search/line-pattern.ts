/** Regular expression for single lines, matched in linear time (RE2). */
import { RE2JS } from "re2js";
import { errorText, refused, done, type Outcome } from "../outcome.js";

/** Not supported: for single lines they would mean the same as ^ and $. */
const TEXT_ANCHOR = /\\[Az]/;

/** Start of the first match in `line`, or -1. */
export type LinePattern = (line: string) => number;

/** Refuses what RE2 does not support, such as look-around and backreferences. */
export function compileLinePattern(pattern: string, ignoreCase: boolean): Outcome<LinePattern> {
  if (TEXT_ANCHOR.test(pattern.replaceAll("\\\\", "")))
    return refusedPattern("\\A and \\z have no meaning here, use ^ and $");
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return done((line) => {
      if (!compiled.test(line)) return -1;
      const matcher = compiled.matcher(line);
      return matcher.find() ? matcher.start() : -1;
    });
  } catch (error) {
    return refusedPattern(errorText(error).replace(/^error parsing regexp: /, ""));
  }
}

function refusedPattern(reason: string): Outcome<never> {
  return refused(
    400,
    `The pattern is not valid: ${reason}. It is a regular expression in the syntax of RE2, without look-around and ` +
      `backreferences; put a backslash before . * + ? ( ) [ ] { } | ^ $ \\ to mean the character itself.`,
    { field: "pattern" },
  );
}
