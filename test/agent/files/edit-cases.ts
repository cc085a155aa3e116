// Random edits that resemble those of models: an excerpt of a file with the wrong white space, line endings or
// punctuation, and a new text that keeps, changes, inserts and removes some of its lines.
import type { ReferenceEdit } from "./edit-reference.js";

export type EditCase = { text: string; edit: ReferenceEdit };
type Random = (below: number) => number;

const BODIES = [
  "a",
  "b = 1;",
  "if x {",
  "}",
  'say("hi")',
  "say(“hi”)",
  "x – y",
  "x - y",
  "it’s",
  "a\u00a0b",
  "– “q”\u2003– ‘r’",
  "return",
];
const UNITS = ["\t", "  ", "    ", "   "];
const TRAILS = ["", "", "", "", "", " ", "\t", "  ", "\u00a0"];
const ENDINGS = ["\n", "\r\n"];

class Author {
  constructor(private readonly random: Random) {}

  chance(percent: number): boolean {
    return this.random(100) < percent;
  }

  below(bound: number): number {
    return this.random(bound);
  }

  pick(list: readonly string[]): string {
    return list[this.random(list.length)] ?? "";
  }

  ending(style: "lf" | "crlf" | "mixed"): string {
    if (style === "mixed") return this.pick(ENDINGS);
    return style === "lf" ? "\n" : "\r\n";
  }

  endingStyle(): "lf" | "crlf" | "mixed" {
    if (this.chance(15)) return "mixed";
    return this.chance(60) ? "lf" : "crlf";
  }

  /** Lines of a plausible shape: varying depth, a few blank, a few with another indentation. */
  file(): string {
    const unit = this.pick(UNITS);
    const style = this.endingStyle();
    let depth = this.below(3);
    let text = this.chance(4) ? "\uFEFF" : "";
    for (let rest = 1 + this.below(12); rest > 0; rest -= 1) {
      depth = Math.max(0, depth + this.below(3) - 1);
      const indent = this.chance(6) ? this.pick([" ", "\t ", " \t", "     ", "\u00a0"]) : unit.repeat(depth);
      const content = this.chance(12)
        ? this.pick(["", "", " ", "\t"])
        : indent + this.pick(BODIES) + this.pick(TRAILS);
      text += content + (rest === 1 && this.chance(35) ? "" : this.ending(style));
    }
    return this.chance(35) ? text + this.echo(text) : text;
  }

  /** Repeats some of the lines, perhaps deeper or with other trailing space, which makes a match ambiguous. */
  echo(text: string): string {
    const lines = splitLines(text);
    const first = this.below(lines.length);
    const ending = text.includes("\r\n") ? "\r\n" : "\n";
    const indent = this.pick(["", "", "\t", "    "]);
    const trail = this.pick(TRAILS);
    const again = lines
      .slice(first, first + 1 + this.below(3))
      .map((line) => line.replace(/^\uFEFF?/, indent).replace(/[ \t]*(?=\r?\n|$)/, trail));
    return (text.endsWith("\n") ? "" : ending) + again.join("");
  }

  oldText(file: string): string {
    if (this.chance(3)) return this.pick(["", "\n", " ", "\r\n", "\t\n", "nowhere", "\r", "\uFEFF"]);
    if (this.chance(22)) {
      const from = this.below(file.length);
      return this.chance(50)
        ? file.slice(from, from + 1 + this.below(12))
        : file.slice(from, from + 1 + this.below(12)).replace(/\r?\n/g, this.pick(ENDINGS));
    }
    const lines = splitLines(file);
    const first = this.below(lines.length);
    const chosen = lines.slice(first, first + 1 + this.below(4));
    return this.misremember(chosen);
  }

  /** The lines, perhaps with different white space, punctuation and line endings. */
  misremember(lines: string[]): string {
    const ending = this.chance(75) ? this.pick(ENDINGS) : undefined;
    const newUnit = this.pick(UNITS);
    const slips = {
      trails: this.chance(40),
      units: this.chance(25),
      base: this.chance(25),
      plain: this.chance(25),
    };
    const base = Math.min(...lines.map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0));
    const text = lines
      .map((line) => {
        let changed = line;
        if (slips.trails) changed = changed.replace(/[ \t]*(?=\r?\n|$)/, this.pick(TRAILS));
        if (slips.base) changed = changed.slice(base);
        if (slips.units)
          changed = changed.replace(/^(?:\t| {2,4})+/, (lead) => newUnit.repeat(depthOf(lead)));
        if (slips.plain) changed = toAscii(changed);
        return changed;
      })
      .join("");
    const ended = ending === undefined ? text : text.replace(/\r?\n/g, ending);
    return this.chance(55) ? ended.replace(/\r?\n$/, "") : ended;
  }

  newText(oldText: string): string {
    if (this.chance(8)) return "";
    if (this.chance(10)) return this.pick(["x", "x\n", "x\r\ny", "\n", " ", "x\ny\r\nz", "\tx\n\t\ty\n"]);
    const lines = splitLines(oldText);
    const unit = this.pick(UNITS);
    const ending = /\r?\n/.exec(oldText)?.[0] ?? this.pick(ENDINGS);
    const fresh = lines.flatMap((line) => {
      const lead = /^[ \t]*/.exec(line)?.[0] ?? "";
      const own = line.endsWith("\n") ? line : line + ending;
      const inserted = () => {
        const indent = this.pick([lead, lead, lead + unit, lead.slice(1), "", unit]);
        return (
          (this.chance(12) ? this.pick(["", "  "]) : indent + this.pick(BODIES) + this.pick(TRAILS)) + ending
        );
      };
      if (this.chance(12)) return [];
      if (this.chance(15)) return [own, inserted()];
      if (this.chance(12)) return [inserted(), inserted(), own];
      if (this.chance(15)) return [own.replace(/\S+/, (word) => `${word.slice(1)}z`)];
      if (this.chance(15)) return [unit + own];
      return [own];
    });
    const text = fresh.join("");
    const styled = this.chance(12) ? text.replace(/\r?\n/g, () => this.pick(ENDINGS)) : text;
    return this.chance(55) ? styled.replace(/\r?\n$/, "") : styled;
  }
}

function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function depthOf(lead: string): number {
  return lead.includes("\t") ? lead.length : Math.ceil(lead.length / 4);
}

function toAscii(text: string): string {
  return text
    .replace(/[–]/g, "-")
    .replace(/[“”]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/[\u00a0\u2003]/g, " ");
}

export function randomCase(random: Random): EditCase {
  const author = new Author(random);
  const text = author.file();
  const oldText = author.oldText(text);
  return { text, edit: { oldText, newText: author.newText(oldText), replaceAll: author.chance(30) } };
}
