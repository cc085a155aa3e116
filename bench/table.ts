/** A plain text table of measurements: Parley beside the floor, their ratio, and the goal with its yes or no. */
import type { Spread } from "./statistics.js";

/** A goal and whether it is met. */
export type Goal = { text: string; isMet: boolean };

export type Row = {
  label: string;
  parley?: string | undefined;
  floor?: string | undefined;
  ratio?: string | undefined;
  goal?: Goal | undefined;
};

/** Rows under one heading. */
export type Section = { title: string; rows: Row[] };

const HEADINGS = ["", "Parley", "floor", "ratio", "goal"];

/** `headings` are those of the label, the three values and the goal. */
export function renderTable(sections: readonly Section[], headings: readonly string[] = HEADINGS): string {
  const bodies = sections.map(({ title, rows }) => ({ title, lines: rows.map(cells) }));
  const all = [headings, ...bodies.flatMap(({ lines }) => lines)];
  const widths = headings.map((_heading, column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  );
  const render = (line: readonly string[]) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const blocks = bodies.map(({ title, lines }) => [title, ...lines.map(render)].join("\n"));
  return [render(headings), ...blocks].join("\n\n");
}

function cells({ label, parley = "", floor = "", ratio = "", goal }: Row): string[] {
  return [`  ${label}`, parley, floor, ratio, goal ? `${goal.text}: ${goal.isMet ? "yes" : "NO"}` : ""];
}

/** `2.31 (2.20–2.45)`; the median alone when there is only one value. */
export function showSpread({ median, least, most }: Spread, digits = 2): string {
  const middle = showNumber(median, digits);
  return least === most ? middle : `${middle} (${showNumber(least, digits)}–${showNumber(most, digits)})`;
}

export function showNumber(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "-";
}
