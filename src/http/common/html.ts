/** HTML template strings: interpolated text is escaped, interpolated `Html` is not. */

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

/** Tag for element text and quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const parts = strings.map((string, index) => {
    const value = values[index];
    if (value === undefined) return string;
    return string + (value instanceof Html ? value.text : escape(value));
  });
  return new Html(parts.join(""));
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
