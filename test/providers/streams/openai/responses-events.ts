/** Builders of the Responses API's events as sent over the wire, with their numbers and repetitions. */

let sequence = 0;

/** One event as the vendor frames it. */
export function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
}

export const response = (fields: object = {}) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_790_000_000,
  status: "in_progress",
  background: false,
  error: null,
  incomplete_details: null,
  model: "gpt-5.5",
  output: [],
  store: false,
  usage: null,
  ...fields,
});
export const usage = (input: number, output: number, more: { cached?: number; reasoning?: number } = {}) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: more.cached ?? 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: more.reasoning ?? 0 },
  total_tokens: input + output,
});

export const created = event("response.created", { response: response() });
export const inProgress = event("response.in_progress", { response: response() });
export const opened = [created, inProgress];
export const completed = (fields: object = {}) =>
  event("response.completed", {
    response: response({ status: "completed", usage: usage(10, 5), ...fields }),
  });
export const incomplete = (reason: string) =>
  event("response.incomplete", {
    response: response({ status: "incomplete", incomplete_details: { reason }, usage: usage(10, 5) }),
  });
export const failed = (error: object | null) =>
  event("response.failed", { response: response({ status: "failed", error }) });

export const added = (output_index: number, item: object) =>
  event("response.output_item.added", { output_index, item });
export const done = (output_index: number, item: object) =>
  event("response.output_item.done", { output_index, item });

type Message = { index?: number; id?: string; phase?: string; annotations?: object[]; deltas: string[] };

/** A complete message item: added, streamed and repeated, as the vendor does. */
export function message({ index = 0, id = "msg_1", phase, annotations = [], deltas }: Message): string[] {
  const text = deltas.join("");
  const item = { type: "message", id, role: "assistant", ...(phase ? { phase } : {}) };
  const at = { item_id: id, output_index: index, content_index: 0 };
  const part = { type: "output_text", annotations, logprobs: [], text };
  return [
    added(index, { ...item, status: "in_progress", content: [] }),
    event("response.content_part.added", { ...at, part: { ...part, text: "", annotations: [] } }),
    ...deltas.map((delta) =>
      event("response.output_text.delta", { ...at, delta, logprobs: [], obfuscation: "x" }),
    ),
    ...annotations.map((annotation, annotation_index) =>
      event("response.output_text.annotation.added", { ...at, annotation_index, annotation }),
    ),
    event("response.output_text.done", { ...at, text, logprobs: [] }),
    event("response.content_part.done", { ...at, part }),
    done(index, { ...item, status: "completed", content: [part] }),
  ];
}

type Call = {
  index?: number;
  id?: string;
  callId?: string;
  name?: string;
  fragments: string[];
  status?: string;
};

/** A whole function call item in the order: begun, deltas, done. */
export function functionCall(call: Call): { begun: string; fragments: string[]; ended: string[] } {
  const {
    index = 0,
    id = "fc_1",
    callId = "call_1",
    name = "execute",
    fragments,
    status = "completed",
  } = call;
  const item = { type: "function_call", id, call_id: callId, name };
  const at = { item_id: id, output_index: index };
  return {
    begun: added(index, { ...item, status: "in_progress", arguments: "" }),
    fragments: fragments.map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
    ended: [
      event("response.function_call_arguments.done", { ...at, arguments: fragments.join("") }),
      done(index, { ...item, status, arguments: fragments.join("") }),
    ],
  };
}

export function wholeCall(call: Call): string[] {
  const { begun, fragments, ended } = functionCall(call);
  return [begun, ...fragments, ...ended];
}

type Reasoning = { index?: number; id?: string; summaries: string[][]; encrypted?: string | null };

/** A whole reasoning item; each summary is a list of deltas. */
export function reasoning({ index = 0, id = "rs_1", summaries, encrypted = "gAAAenc" }: Reasoning): string[] {
  const at = (summary_index: number) => ({ item_id: id, output_index: index, summary_index });
  const parts = summaries.map((deltas) => ({ type: "summary_text", text: deltas.join("") }));
  return [
    added(index, { type: "reasoning", id, summary: [], encrypted_content: "gAAApartial" }),
    ...summaries.flatMap((deltas, number) => [
      event("response.reasoning_summary_part.added", {
        ...at(number),
        part: { type: "summary_text", text: "" },
      }),
      ...deltas.map((delta) => event("response.reasoning_summary_text.delta", { ...at(number), delta })),
      event("response.reasoning_summary_text.done", { ...at(number), text: deltas.join("") }),
      event("response.reasoning_summary_part.done", { ...at(number), part: parts[number] }),
    ]),
    done(index, { type: "reasoning", id, summary: parts, encrypted_content: encrypted }),
  ];
}

/** A whole web search item. */
export function webSearch(fields: {
  index?: number;
  id?: string;
  status?: string;
  action?: object;
}): string[] {
  const { index = 0, id = "ws_1", status = "completed", action } = fields;
  const at = { item_id: id, output_index: index };
  const item = { type: "web_search_call", id };
  return [
    added(index, { ...item, status: "in_progress" }),
    event("response.web_search_call.in_progress", at),
    event("response.web_search_call.searching", at),
    event("response.web_search_call.completed", at),
    done(index, { ...item, status, ...(action ? { action } : {}) }),
  ];
}

export const urlCitation = (url: string, title: string) => ({
  type: "url_citation",
  start_index: 0,
  end_index: 2,
  url,
  title,
});
