/** Git's ignore rules: each `.gitignore` applies below its own folder, and the nearest one wins. */
import ignore, { type Ignore } from "ignore";

/** The text of a `.gitignore` (or `.git/info/exclude`) and the absolute path of the folder below which it applies. */
export type IgnoreFile = { folder: string; text: string };

type Level = { prefixLength: number; matcher: Ignore };

const empty = () => ignore({ ignorecase: false });

/** Immutable: `with` and `within` return new rules. */
export class IgnoreRules {
  static readonly none = new IgnoreRules([]);

  /** `levels` from the farthest folder to the nearest. */
  private constructor(private readonly levels: readonly Level[]) {}

  /** These rules and, with higher precedence, those of `file`. */
  with(file: IgnoreFile): IgnoreRules {
    const matcher = empty().add(file.text);
    const prefixLength = file.folder === "/" ? 1 : file.folder.length + 1;
    return new IgnoreRules([...this.levels, { prefixLength, matcher }]);
  }

  /**
   * The rules for the content of `folder`, which they do not exclude. When a nearer file overrides a farther one's
   * exclusion of the folder, that exclusion no longer applies to its content.
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

  /** `path` is absolute and below the folders of all files. Its parent folders are not checked. */
  excludes(path: string, isFolder: boolean): boolean {
    for (const { prefixLength, matcher } of this.levels.toReversed()) {
      const { ignored, unignored } = matcher.test(path.slice(prefixLength) + (isFolder ? "/" : ""));
      if (ignored || unignored) return ignored;
    }
    return false;
  }
}

/** Escapes a path for use as a rule. */
function literally(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, "\\$&");
}
