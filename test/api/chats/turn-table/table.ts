// Prints the table: one row for each phase, one column for each event.

export type Mark = "✓" | "✗" | { notHere: string };

export class Table {
  readonly #marks = new Map<string, Mark>();

  set(row: string, column: string, mark: Mark): void {
    this.#marks.set(`${row}|${column}`, mark);
  }

  /** As Markdown, with numbered reasons below. Empty cells were not run. */
  print(rows: string[], columns: string[]): string {
    const reasons: string[] = [];
    const show = (mark: Mark | undefined): string => {
      if (mark === undefined || typeof mark === "string") return mark ?? "";
      if (!reasons.includes(mark.notHere)) reasons.push(mark.notHere);
      return `–${reasons.indexOf(mark.notHere) + 1}`;
    };
    const lines = rows.map((row) =>
      line([row, ...columns.map((column) => show(this.#marks.get(`${row}|${column}`)))]),
    );
    const head = [line(["phase", ...columns]), line(["---", ...columns.map(() => ":-:")])];
    const notes = reasons.map((reason, index) => `–${index + 1}: ${reason}`).join(" · ");
    return [...head, ...lines, "", notes].join("\n");
  }
}

function line(cells: string[]): string {
  return `| ${cells.join(" | ")} |`;
}
