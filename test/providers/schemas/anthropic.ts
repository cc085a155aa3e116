/**
 * Schema of the requests that we send to Anthropic's Messages API, from its documentation and its SDK's types. Unknown
 * keys are errors, and so is what the vendor refuses although its types allow it.
 */
import { z } from "zod";

const id = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const words = z
  .string()
  .regex(/\S/, "blank text is refused")
  .refine((text) => !/\p{Surrogate}/u.test(text));
const cached = { cache_control: z.strictObject({ type: z.literal("ephemeral") }).optional() };
const caller = z
  .union([
    z.strictObject({ type: z.literal("direct") }),
    z.strictObject({ type: z.literal("code_execution_20250825"), tool_id: z.string() }),
  ])
  .optional();
const base64 = z.base64().min(1);

const citation = z.strictObject({
  type: z.literal("web_search_result_location"),
  url: z.string(),
  title: z.string().nullable(),
  cited_text: z.string(),
  encrypted_index: z.string().min(1),
});
const plainText = z.strictObject({ type: z.literal("text"), text: words, ...cached });
const citedText = plainText.extend({ citations: z.array(citation).min(1).optional() });
const image = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    data: base64,
  }),
  ...cached,
});
const document = z.strictObject({
  type: z.literal("document"),
  title: z.string().min(1).max(500).optional(),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.literal("application/pdf"),
    data: base64,
  }),
  ...cached,
});
const toolResult = z
  .strictObject({
    type: z.literal("tool_result"),
    tool_use_id: id,
    content: z.union([z.string(), z.array(z.union([plainText, image, document])).min(1)]),
    is_error: z.literal(true).optional(),
    ...cached,
  })
  .refine((it) => !it.is_error || typeof it.content === "string", "a failed call's content must be text");
const thinking = z.strictObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redacted = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) });
const toolUse = z.strictObject({
  type: z.literal("tool_use"),
  id,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  input: z.record(z.string(), z.json()),
  ...cached,
});
const serverToolUse = z.strictObject({
  type: z.literal("server_tool_use"),
  id: z.string().regex(/^srvtoolu_[a-zA-Z0-9_]+$/),
  name: z.literal("web_search"),
  input: z.record(z.string(), z.json()),
  caller,
  ...cached,
});
const searchResult = z.strictObject({
  type: z.literal("web_search_tool_result"),
  tool_use_id: z.string().regex(/^srvtoolu_[a-zA-Z0-9_]+$/),
  content: z.union([
    z.array(
      z.strictObject({
        type: z.literal("web_search_result"),
        url: z.string(),
        title: z.string(),
        encrypted_content: z.string().min(1),
        page_age: z.string().nullable().optional(),
      }),
    ),
    z.strictObject({
      type: z.literal("web_search_tool_result_error"),
      error_code: z.enum([
        "invalid_tool_input",
        "unavailable",
        "max_uses_exceeded",
        "too_many_requests",
        "query_too_long",
        "request_too_large",
      ]),
    }),
  ]),
  caller,
  ...cached,
});

const userMessage = z.strictObject({
  role: z.literal("user"),
  content: z.array(z.discriminatedUnion("type", [plainText, image, document, toolResult])).min(1),
});
const assistantBlocks = [citedText, thinking, redacted, toolUse, serverToolUse, searchResult] as const;
const assistantMessage = z.strictObject({
  role: z.literal("assistant"),
  content: z.array(z.discriminatedUnion("type", assistantBlocks)).min(1),
});
const bedrockAssistantMessage = z.strictObject({
  role: z.literal("assistant"),
  content: z.array(z.discriminatedUnion("type", [plainText, thinking, redacted, toolUse])).min(1),
});

const ownTool = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: z.string(),
  input_schema: z.looseObject({ type: z.literal("object") }),
  ...cached,
});
const searchTool = z.strictObject({
  type: z.literal("web_search_20250305"),
  name: z.literal("web_search"),
  allowed_domains: z.array(z.string()).min(1).optional(),
  blocked_domains: z.array(z.string()).min(1).optional(),
  max_uses: z.int().positive().optional(),
});

const common = {
  max_tokens: z.int().positive(),
  system: z.array(plainText).length(1).optional(),
  tool_choice: z
    .union([
      z.strictObject({ type: z.literal("none") }),
      z.strictObject({ type: z.literal("auto"), disable_parallel_tool_use: z.literal(true) }),
    ])
    .optional(),
  thinking: z
    .union([
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1_024) }),
      z.strictObject({ type: z.literal("adaptive"), display: z.literal("summarized") }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  output_config: z.strictObject({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]) }).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().positive().optional(),
  stop_sequences: z.array(words).min(1).optional(),
};

/** `POST /v1/messages`. */
export const anthropicBodySchema = z
  .strictObject({
    ...common,
    model: z.string().min(1),
    stream: z.literal(true),
    messages: z.array(z.discriminatedUnion("role", [userMessage, assistantMessage])).min(1),
    tools: z
      .array(z.union([ownTool, searchTool]))
      .min(1)
      .optional(),
    service_tier: z.enum(["auto", "standard_only"]).optional(),
  })
  .superRefine((body, context) => refine(body, (message) => context.addIssue(message)));

/** `POST /model/MODEL/invoke-with-response-stream`: no model, no searches, the version and the betas inside. */
export const bedrockBodySchema = z
  .strictObject({
    ...common,
    anthropic_version: z.literal("bedrock-2023-05-31"),
    anthropic_beta: z.array(z.string().min(1)).min(1).optional(),
    messages: z.array(z.discriminatedUnion("role", [userMessage, bedrockAssistantMessage])).min(1),
    tools: z.array(ownTool).min(1).optional(),
  })
  .superRefine((body, context) => refine(body, (message) => context.addIssue(message)));

type Block = { type: string; id?: string; tool_use_id?: string };
type Body = {
  messages: { role: string; content: Block[] }[];
  max_tokens: number;
  thinking?: { type: string; budget_tokens?: number };
  temperature?: number;
  top_p?: number;
  top_k?: number;
  tools?: { name: string }[];
  tool_choice?: unknown;
};

/** The rules between fields and between messages. */
function refine(body: Body, refuse: (message: string) => void): void {
  const { messages, thinking: thought, tools } = body;
  if (messages[0]?.role !== "user") refuse("the first message must be the user's");
  if (messages.at(-1)?.role !== "user") refuse("the conversation must end with a user message");
  messages.forEach((message, index) => {
    if (messages[index - 1]?.role === message.role) refuse("roles must alternate");
    refineCalls(message.content, messages[index + 1]?.content ?? [], refuse);
  });
  refineResults(messages, refuse);
  if (JSON.stringify(body).split('"cache_control"').length - 1 > 4) refuse("four cache marks are the most");
  if ((thought?.budget_tokens ?? 0) >= body.max_tokens) refuse("the budget must be below max_tokens");
  const isThinking = thought !== undefined && thought.type !== "disabled";
  if (isThinking && (body.temperature !== undefined || body.top_k !== undefined))
    refuse("temperature and top_k do not go with thinking");
  if (isThinking && (body.top_p ?? 1) < 0.95) refuse("top_p does not go with thinking below 0.95");
  if (body.temperature !== undefined && body.top_p !== undefined)
    refuse("use only one of temperature and top_p");
  if (tools === undefined && body.tool_choice !== undefined) refuse("tool_choice needs tools");
  if (new Set(tools?.map(({ name }) => name)).size !== (tools?.length ?? 0))
    refuse("tool names must be unique");
}

/** Each call's result comes first in the next message; each search's result is in the same message. */
function refineCalls(content: Block[], next: Block[], refuse: (message: string) => void): void {
  const calls = content.filter(({ type }) => type === "tool_use").map(({ id: call }) => call);
  const answers = next.slice(0, calls.length).map((block) => block.tool_use_id);
  if (calls.some((call) => !answers.includes(call))) refuse("tool_use without tool_result right behind it");
  for (const [index, block] of content.entries()) {
    if (block.type !== "server_tool_use") continue;
    const found = content.slice(index).some(({ tool_use_id }) => tool_use_id === block.id);
    if (!found) refuse("server_tool_use without web_search_tool_result");
  }
}

function refineResults(messages: Body["messages"], refuse: (message: string) => void): void {
  const called = messages.flatMap(({ content }) => content.flatMap((block) => block.id ?? []));
  if (new Set(called).size !== called.length) refuse("tool_use ids must be unique");
  const answered = messages.flatMap(({ content }) => content.flatMap((block) => block.tool_use_id ?? []));
  if (new Set(answered).size !== answered.length) refuse("a call must be answered once");
  if (answered.some((result) => !called.includes(result))) refuse("tool_result without tool_use");
}
