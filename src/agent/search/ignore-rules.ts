/** Which paths git leaves out: each `.gitignore` counts below its own folder, and the nearest one has the say. */
import ignore, { type Ignore } from "ignore";

/** The text of a `.gitignore` (or `.git/info/exclude`) and the folder below which it counts; absolute. */
export type IgnoreFile = { folder: string; text: string };

type Level = { prefixLength: number; matcher: Ignore };

const empty = () => ignore({ ignorecase: false });

/** Immutable: a walk adds the files of a folder for that folder alone. */
export class IgnoreRules {
  static readonly none = new IgnoreRules([]);

  /** `levels` from the farthest folder to the nearest. */
  private constructor(private readonly levels: readonly Level[]) {}

  /** These rules and, with more weight, those of `file`. */
  with(file: IgnoreFile): IgnoreRules {
    const matcher = empty().add(file.text);
    const prefixLength = file.folder === "/" ? 1 : file.folder.length + 1;
    return new IgnoreRules([...this.levels, { prefixLength, matcher }]);
  }

  /**
   * The rules for what is in `folder`, which they do not leave out. When a near file took back that a far one leaves
   * the folder out, the far one's word about the folder no longer counts for what is in it.
   */
  within(folder: string): IgnoreRules {
    const isOverruled = ({ prefixLength, matcher }: Level) =>
      matcher.test(`${folder.slice(prefixLength)}/`).ignored;
    if (!this.levels.some(isOverruled)) return this;
    return new IgnoreRules(
      this.levels.map((level) => {
        if (!isOverruled(level)) return level;
        const exception = `!/${literally(folder.slice(level.prefixLength))}/`;
        return { ...level, matcher: empty().add(level.matcher).add(exception) };
      }),
    );
  }

  /** `path` is absolute and below the folders of all files. Its parent folders are not looked at. */
  leavesOut(path: string, isFolder: boolean): boolean {
    for (const { prefixLength, matcher } of this.levels.toReversed()) {
      const { ignored, unignored } = matcher.test(path.slice(prefixLength) + (isFolder ? "/" : ""));
      if (ignored || unignored) return ignored;
    }
    return false;
  }
}

/** A path as a rule that means just this path. */
function literally(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, "\\$&");
}
