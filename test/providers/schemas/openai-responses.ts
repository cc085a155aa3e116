/**
 * Schema of Responses API requests, as strict as its documentation: keys, values, and the rules between items whose
 * violation the vendor answers with 400. Written by hand, for tests of our requests only.
 */
import { z } from "zod";

const filled = z.string().refine((text) => text.trim() !== "", "empty text");
const dataUrl = (types: string) =>
  z.string().regex(new RegExp(`^data:(${types});base64,[A-Za-z0-9+/]+={0,2}$`));

const inputContent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("input_text"), text: filled }),
  z.strictObject({
    type: z.literal("input_image"),
    detail: z.enum(["auto", "low", "high", "original"]),
    image_url: dataUrl("image/(png|jpeg|gif|webp)"),
  }),
  z.strictObject({ type: z.literal("input_file"), filename: filled, file_data: dataUrl("application/pdf") }),
]);

const userMessage = z.strictObject({
  role: z.literal("user"),
  content: z.union([filled, z.array(inputContent).min(1)]),
});
const assistantMessage = z.strictObject({
  role: z.literal("assistant"),
  content: filled,
  phase: z.enum(["commentary", "final_answer"]).optional(),
});
const callId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const functionCall = z.strictObject({
  type: z.literal("function_call"),
  call_id: callId,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  arguments: z.string().refine((text) => typeof JSON.parse(text) === "object", "no JSON object"),
});
const functionOutput = z.strictObject({
  type: z.literal("function_call_output"),
  call_id: callId,
  output: z.union([z.string(), z.array(inputContent).min(1)]),
});
const reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: z.string().startsWith("rs_"),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: filled })),
  encrypted_content: z.string().min(1),
});
const webSearch = z.strictObject({
  type: z.literal("web_search_call"),
  id: z.string().startsWith("ws_"),
  status: z.enum(["in_progress", "searching", "completed", "failed"]),
  action: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("search"),
      query: z.string().optional(),
      queries: z.array(z.string()).optional(),
      sources: z.array(z.strictObject({ type: z.literal("url"), url: z.url() })).optional(),
    }),
    z.strictObject({ type: z.literal("open_page"), url: z.url() }),
    z.strictObject({ type: z.literal("find_in_page"), url: z.url(), pattern: z.string() }),
  ]),
});
const item = z.union([userMessage, assistantMessage, functionCall, functionOutput, reasoning, webSearch]);
type Item = z.infer<typeof item>;

const tool = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("function"),
    name: z.string(),
    description: z.string(),
    parameters: z.looseObject({ type: z.literal("object") }),
    strict: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("web_search"),
    filters: z.strictObject({ allowed_domains: z.array(z.string()).min(1) }).optional(),
    search_context_size: z.enum(["low", "medium", "high"]).optional(),
  }),
]);

/** The whole body. */
export const responsesRequestSchema = z
  .strictObject({
    model: z.string().min(1),
    stream: z.literal(true),
    store: z.boolean(),
    include: z
      .array(z.enum(["reasoning.encrypted_content", "web_search_call.action.sources"]))
      .min(1)
      .optional(),
    input: z.array(item).min(1),
    instructions: filled.optional(),
    previous_response_id: z.string().startsWith("resp_").optional(),
    max_output_tokens: z.int().min(16),
    max_tool_calls: z.int().positive().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    parallel_tool_calls: z.boolean().optional(),
    prompt_cache_key: z.string().min(1).max(64).optional(),
    reasoning: z
      .strictObject({
        effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
        summary: z.enum(["auto", "concise", "detailed"]).optional(),
      })
      .optional(),
    safety_identifier: z.string().max(128).optional(),
    service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]).optional(),
    temperature: z.number().min(0).max(2).optional(),
    text: z.strictObject({ verbosity: z.enum(["low", "medium", "high"]) }).optional(),
    tool_choice: z.enum(["none", "auto", "required"]).optional(),
    tools: z.array(tool).min(1).optional(),
    top_p: z.number().min(0).max(1).optional(),
  })
  .superRefine((body, context) => {
    const problems = [
      ...itemProblems(body.input, body.previous_response_id !== undefined),
      ...(body.tools === undefined && body.tool_choice !== undefined ? ["a tool choice without tools"] : []),
      ...(body.tools === undefined && body.parallel_tool_calls !== undefined
        ? ["parallel calls without tools"]
        : []),
    ];
    for (const message of problems) context.addIssue({ code: "custom", message });
  });

function itemProblems(items: Item[], isContinued: boolean): string[] {
  const problems: string[] = [];
  const calls = new Set<string>();
  const outputs = new Set<string>();
  items.forEach((entry, index) => {
    if (!("type" in entry)) return;
    if (entry.type === "function_call") {
      if (calls.has(entry.call_id)) problems.push(`the call ${entry.call_id} is there twice`);
      calls.add(entry.call_id);
    }
    if (entry.type === "function_call_output") {
      if (!calls.has(entry.call_id) && !isContinued) problems.push(`no tool call found for ${entry.call_id}`);
      if (outputs.has(entry.call_id)) problems.push(`the output of ${entry.call_id} is there twice`);
      outputs.add(entry.call_id);
    }
    const next = items[index + 1];
    const isFollowed = next !== undefined && !("role" in next && next.role === "user") && !isOutput(next);
    if (entry.type === "reasoning" && !isFollowed)
      problems.push(`${entry.id} without its required following item`);
  });
  for (const call of calls) if (!outputs.has(call)) problems.push(`no tool output found for ${call}`);
  return problems;
}

function isOutput(entry: Item): boolean {
  return "type" in entry && entry.type === "function_call_output";
}
