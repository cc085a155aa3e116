/** Builders of Chat Completions chunks as sent over the wire. */

/** One chunk as servers frame it. */
export function chunk(fields: object): string {
  const common = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "some-model",
  };
  return `data: ${JSON.stringify({ ...common, ...fields })}\n\n`;
}

export const delta = (fields: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason }] });
export const role = delta({ role: "assistant", content: "", refusal: null });
export const text = (content: string) => delta({ content });
export const finish = (reason: string) => delta({}, reason);
export const usage = (fields: object) => chunk({ choices: [], usage: fields });
export const USAGE = usage({
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});
export const DONE = "data: [DONE]\n\n";

/** A delta of a call; without an id or a name it continues an earlier delta. */
export const call = (index: number | undefined, fields: { id?: string; name?: string; args?: unknown }) =>
  delta({
    tool_calls: [
      {
        ...(index === undefined ? {} : { index }),
        ...(fields.id === undefined ? {} : { id: fields.id, type: "function" }),
        function: { ...(fields.name ? { name: fields.name } : {}), arguments: fields.args ?? "" },
      },
    ],
  });

/** The end of a successful answer. */
export const ending = [finish("stop"), USAGE, DONE];
export const callEnding = [finish("tool_calls"), USAGE, DONE];
