/** Claude's own parts in the ten histories, and the requests sent for them, as received over HTTP. */
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { PromptPart } from "../../../src/domain/chats/message-parts.js";
import type { ModelRequest } from "../../../src/providers/types.js";
import { histories, type History } from "./histories.js";
import { text } from "./prompts.js";
import { replayAll } from "../replays/replay.js";

export const CITATION = {
  type: "web_search_result_location",
  url: "https://example.com/a",
  title: "A",
  cited_text: "because",
  encrypted_index: "index==",
};
export const FOUND = [
  {
    type: "web_search_result",
    url: "https://example.com/a",
    title: "A",
    encrypted_content: "content==",
    page_age: null,
  },
];
const searched = (vendor: string, content: unknown): PromptPart[] => [
  {
    type: "tool-call",
    toolCallId: "srvtoolu_1",
    toolName: "web_search",
    arguments: { query: "why" },
    isProviderExecuted: true,
    providerMetadata: { [vendor]: { caller: { type: "direct" } } },
  },
  {
    type: "tool-result",
    toolCallId: "srvtoolu_1",
    toolName: "web_search",
    result: [],
    isError: false,
    isProviderExecuted: true,
    providerMetadata: { [vendor]: { caller: { type: "direct" }, content } as JsonObject },
  },
];
export const HISTORIES = histories({
  reasoning: [
    { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "sig==" } } },
    {
      type: "reasoning",
      text: "",
      isRedacted: true,
      providerMetadata: { anthropic: { redactedData: "red==" } },
    },
  ],
  search: [
    text("I look it up."),
    ...searched("anthropic", FOUND),
    {
      type: "text",
      text: "It is so because.\n\nReally.",
      providerMetadata: { anthropic: { cited: [{ start: 9, end: 17, citations: [CITATION] }] } },
    },
    { type: "source", url: "https://example.com/a", title: "A" },
  ],
  otherVendor: [
    {
      type: "reasoning",
      text: "hm",
      providerMetadata: { openai: { itemId: "rs_1", encryptedContent: "enc" } },
    },
    ...searched("openai", FOUND),
    { type: "text", text: "found", providerMetadata: { google: { thoughtSignature: "sig" } } },
  ],
});

export const MARK = { cache_control: { type: "ephemeral" } };

const ANSWER = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** The request as received, or the adapter's refusal to send it. */
export async function send(kind: "anthropic" | "bedrock", request: ModelRequest) {
  const { requests, failure } = await replayAll(kind, [[ANSWER]], { request });
  return { path: requests[0]?.path, headers: requests[0]?.headers, body: requests[0]?.body ?? {}, failure };
}

export const bodyOf = async (request: ModelRequest) => (await send("anthropic", request)).body;

export function historyOf(name: string): History {
  const found = HISTORIES.find((history) => history.name === name);
  if (found === undefined) throw new Error(`no history ${name}`);
  return found;
}
