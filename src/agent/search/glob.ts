/** Globs for paths: `*.ts` matches names in every folder, `src/**` paths relative to the searched folder. */
import { Minimatch } from "minimatch";

/** Bounds the memory of patterns such as `{1..9999999}`. */
const MAX_ALTERNATIVES = 1_000;

/** Matcher for relative paths. Some patterns take long: use it only in a thread that can be terminated. */
export function compileGlob(glob: string): (path: string) => boolean {
  const pattern = glob.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "/**");
  const matcher = new Minimatch(pattern, {
    dot: true,
    matchBase: true,
    braceExpandMax: MAX_ALTERNATIVES,
    // `!`, `#` and `+(…)` have no special meaning: file names contain them.
    nonegate: true,
    nocomment: true,
    noext: true,
    platform: "linux",
  });
  return (path) => matcher.match(path);
}
