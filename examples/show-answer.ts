/** Writes an answer to the terminal while it is generated. */

/** Takes the whole answer so far each time, and writes what is new; an answer that started again gets a new line. */
export function createScreen(): (answer: string) => void {
  let shown = "";
  return (answer) => {
    const goesOn = answer.startsWith(shown);
    process.stdout.write(goesOn ? answer.slice(shown.length) : `\n${answer}`);
    shown = answer;
  };
}

type Part = { __typename: string; text?: string };

/** The text of the answer that is being generated, else of the last one. */
export function answerOf(state: {
  preview: { parts: readonly { part: Part }[] } | null;
  messages: readonly { role: string; parts: readonly Part[] }[];
}): string {
  const written = state.preview?.parts.map(({ part }) => part);
  const saved = state.messages.findLast(({ role }) => role === "ASSISTANT")?.parts;
  const texts = (written ?? saved ?? []).filter(({ __typename }) => __typename === "TextPart");
  return texts.map(({ text }) => text ?? "").join("");
}
