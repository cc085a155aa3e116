/** HTML from templates: what is put in is escaped, unless it is HTML of ours already. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

/** For the text of elements, and for attributes within quotes. */
export function html(pieces: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const parts = pieces.map((piece, index) => {
    const value = values[index];
    if (value === undefined) return piece;
    return piece + (value instanceof Html ? value.text : escape(value));
  });
  return new Html(parts.join(""));
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
