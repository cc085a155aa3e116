/** Globs for paths: `*.ts` names files in every folder, `src/**` paths from the searched folder on. */
import { Minimatch } from "minimatch";

/** `{1..9999999}` must not fill the memory. */
const MAX_ALTERNATIVES = 1_000;

/** Whether a relative path is meant. Special patterns may take long: only for a thread that can be ended. */
export function compileGlob(glob: string): (path: string) => boolean {
  const pattern = glob.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "/**");
  const matcher = new Minimatch(pattern, {
    dot: true,
    matchBase: true,
    braceExpandMax: MAX_ALTERNATIVES,
    // What is special elsewhere (`!`, `#`, `+(…)`) is a plain character here, as in most people's names of files.
    nonegate: true,
    nocomment: true,
    noext: true,
    platform: "linux",
  });
  return (path) => matcher.match(path);
}
