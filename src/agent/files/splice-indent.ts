/** Indentation of the lines that an edit writes, when the edit's own indentation is not the file's. Pure. */
import type { Line } from "./lines.js";

/** The lines of one match: `window` has the file's, as many as `wanted`. */
export type Indentation = {
  window: readonly Line[];
  wanted: readonly Line[];
  replacement: readonly Line[];
  /** The commonest step of the whole file in spaces, or undefined; called at most once for a match. */
  fileStep(): number | undefined;
};

/** `line` is indented like `wanted`, whose counterpart in the file is `found`. */
export type Pattern = { line: Line; wanted: Line; found: Line; isInserted: boolean };

type Unit = { character: " " | "\t"; size: number };

/** A function that returns the indentation of each line of one match. */
export function indenter(match: Indentation): (pattern: Pattern) => string {
  const isAsWanted = match.wanted.every(
    ({ lead, body }, index) => body === "" || lead === match.window[index]?.lead,
  );
  const callersUnit = isAsWanted ? undefined : unitOf([...match.wanted, ...match.replacement]);
  const fileUnit = isAsWanted ? undefined : fileUnitOf(match, callersUnit);
  return ({ line, wanted, found, isInserted }) => {
    if (line.lead === wanted.lead) return found.lead;
    if (isAsWanted) return line.lead;
    const otherwise = isInserted ? found.lead : line.lead;
    if (callersUnit === undefined || fileUnit === undefined) return otherwise;
    const [own, its, base] = [
      levelOf(line.lead, callersUnit),
      levelOf(wanted.lead, callersUnit),
      levelOf(found.lead, fileUnit),
    ];
    if (own === undefined || its === undefined || base === undefined || base + own < its) return otherwise;
    return fileUnit.character.repeat(fileUnit.size * (base + own - its));
  };
}

/** Undefined when no line is indented, or when spaces and tabs are mixed. */
function unitOf(lines: readonly Line[]): Unit | undefined {
  const leads = leadsOf(lines);
  if (leads.length === 0) return undefined;
  if (leads.every((lead) => isAllOf(lead, "\t"))) return { character: "\t", size: 1 };
  if (!leads.every((lead) => isAllOf(lead, " "))) return undefined;
  return { character: " ", size: leads.reduce((size, lead) => commonDivisor(size, lead.length), 0) };
}

function fileUnitOf({ window, fileStep }: Indentation, callersUnit: Unit | undefined): Unit | undefined {
  if (leadsOf(window).length === 0) return callersUnit;
  const unit = unitOf(window);
  if (unit?.character !== " ") return unit;
  const widths = new Set(window.filter(({ body }) => body !== "").map(({ lead }) => lead.length));
  if (widths.size > 1) return unit;
  const step = fileStep();
  return step !== undefined && unit.size % step === 0 ? { character: " ", size: step } : unit;
}

function leadsOf(lines: readonly Line[]): string[] {
  return lines.flatMap(({ lead, body }) => (body === "" || lead === "" ? [] : [lead]));
}

function isAllOf(lead: string, character: " " | "\t"): boolean {
  return lead === character.repeat(lead.length);
}

/** Undefined for a fraction of a level. */
function levelOf(lead: string, { character, size }: Unit): number | undefined {
  return isAllOf(lead, character) && lead.length % size === 0 ? lead.length / size : undefined;
}

function commonDivisor(first: number, second: number): number {
  return second === 0 ? first : commonDivisor(second, first % second);
}

/**
 * The commonest increase of indentation, in spaces, from one non-blank line to the next; the smaller of two equally
 * common ones. Lines indented by anything else count as blank. `leads` are those of the non-blank lines, in order.
 */
export function commonestStep(leads: Iterable<string>): number | undefined {
  const counts = new Map<number, number>();
  let before = Infinity;
  for (const lead of leads) {
    if (!isAllOf(lead, " ")) continue;
    if (lead.length > before) {
      const step = lead.length - before;
      counts.set(step, (counts.get(step) ?? 0) + 1);
    }
    before = lead.length;
  }
  const steps = [...counts].sort(([step, count], [other, others]) => others - count || step - other);
  return steps[0]?.[0];
}
