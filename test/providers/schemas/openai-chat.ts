/**
 * Schema of Chat Completions requests, as strict as its documentation, with the rules between messages whose violation
 * servers answer with 400. Written by hand, for tests of our requests only.
 */
import { z } from "zod";

const filled = z.string().refine((text) => text.trim() !== "", "empty text");
const dataUrl = (types: string) =>
  z.string().regex(new RegExp(`^data:(${types});base64,[A-Za-z0-9+/]+={0,2}$`));
const callId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

const textPart = z.strictObject({ type: z.literal("text"), text: filled });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: dataUrl("image/(png|jpeg|gif|webp)") }),
});
const filePart = z.strictObject({
  type: z.literal("file"),
  file: z.strictObject({ filename: filled, file_data: dataUrl("application/pdf") }),
});
const toolCall = z.strictObject({
  id: callId,
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    arguments: z.string().refine((text) => typeof JSON.parse(text) === "object", "no JSON object"),
  }),
});
const system = z.strictObject({ role: z.literal("system"), content: filled });
const toolMessage = z.strictObject({ role: z.literal("tool"), tool_call_id: callId, content: z.string() });

/** `hasFiles`: the server takes PDFs. `hasReasoning`: it takes its own reasoning back. */
type Server = { hasFiles: boolean; hasReasoning: boolean; limitName: "max_tokens" | "max_completion_tokens" };

/** The whole body, for one kind of server. */
export function chatRequestSchema({ hasFiles, hasReasoning, limitName }: Server) {
  const content = hasFiles ? z.union([textPart, imagePart, filePart]) : z.union([textPart, imagePart]);
  const user = z.strictObject({
    role: z.literal("user"),
    content: z.union([filled, z.array(content).min(1)]),
  });
  const assistant = z.strictObject({
    role: z.literal("assistant"),
    content: filled.nullable(),
    tool_calls: z.array(toolCall).min(1).optional(),
    ...(hasReasoning
      ? {
          reasoning_content: z.string().optional(),
          reasoning: z.string().optional(),
          reasoning_details: z.array(z.looseObject({ type: z.string().startsWith("reasoning.") })).optional(),
        }
      : {}),
  });
  const message = z.discriminatedUnion("role", [system, user, assistant, toolMessage]);
  return z
    .strictObject({
      model: z.string().min(1),
      stream: z.literal(true),
      stream_options: z.strictObject({ include_usage: z.literal(true) }),
      messages: z.array(message).min(1),
      [limitName]: z.int().positive(),
      metadata: z.record(z.string(), z.string()).optional(),
      parallel_tool_calls: z.boolean().optional(),
      prompt_cache_key: z.string().min(1).max(64).optional(),
      reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
      safety_identifier: z.string().max(128).optional(),
      service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).optional(),
      store: z.boolean().optional(),
      temperature: z.number().min(0).max(2).optional(),
      tool_choice: z.enum(["none", "auto", "required"]).optional(),
      tools: z
        .array(
          z.strictObject({
            type: z.literal("function"),
            function: z.strictObject({
              name: z.string(),
              description: z.string(),
              parameters: z.looseObject({ type: z.literal("object") }),
            }),
          }),
        )
        .min(1)
        .optional(),
      top_p: z.number().min(0).max(1).optional(),
      verbosity: z.enum(["low", "medium", "high"]).optional(),
    })
    .superRefine((body, context) => {
      const messages = z.array(message).parse(body.messages);
      for (const problem of messageProblems(messages)) context.addIssue({ code: "custom", message: problem });
    });
}

type Message = {
  role: string;
  content: unknown;
  tool_calls?: { id: string }[] | undefined;
  tool_call_id?: string;
};

/** All results follow directly after their calls; no two user messages are adjacent. */
function messageProblems(messages: Message[]): string[] {
  const problems: string[] = [];
  const known = new Set<string>();
  let open = new Set<string>();
  messages.forEach((message, index) => {
    const before = messages[index - 1];
    if (message.role === "system" && index > 0) problems.push("a system message in the middle");
    if (message.role === "user" && before?.role === "user") problems.push("two user messages in a row");
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id ?? ""))
        problems.push(`an answer to no call: ${message.tool_call_id}`);
      return;
    }
    if (open.size > 0) problems.push(`calls without an answer: ${[...open].join(", ")}`);
    open = new Set();
    if (message.role !== "assistant") return;
    if (message.content === null && message.tool_calls === undefined)
      problems.push("an assistant that says nothing");
    for (const { id } of message.tool_calls ?? []) {
      if (known.has(id)) problems.push(`the id ${id} is there twice`);
      known.add(id);
      open.add(id);
    }
  });
  if (open.size > 0) problems.push(`calls without an answer: ${[...open].join(", ")}`);
  return problems;
}
