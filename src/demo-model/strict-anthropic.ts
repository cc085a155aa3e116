/** What Anthropic answers with a 400, in its own words; on Bedrock too, where one wording differs. Pure. */
import type { JsonObject } from "../domain/common/json.js";
import { firstRepeated, isLegalId, isLegalName, NAME_PATTERN, placed } from "./faults.js";
import type { Asked } from "./limits.js";
import { objectsOf, textOf } from "./request.js";

/** `model` as it was asked for. Undefined = the request is taken. */
export function anthropicFault(body: JsonObject, asked: Asked, isBedrock = false): string | undefined {
  return (
    toolsFault(objectsOf(body.tools)) ??
    messagesFault(objectsOf(body.messages)) ??
    limitFault(body, asked, isBedrock)
  );
}

function toolsFault(tools: JsonObject[]): string | undefined {
  for (const { path, entry } of placed("tools", tools, "dots"))
    if (!isLegalName(textOf(entry.name)))
      return `${path}.custom.name: String should match pattern '${NAME_PATTERN}'`;
  return firstRepeated(tools.map(({ name }) => textOf(name))) === undefined
    ? undefined
    : "tools: Tool names must be unique.";
}

function messagesFault(messages: JsonObject[]): string | undefined {
  const all = messages.map(({ content }) => (Array.isArray(content) ? objectsOf(content) : []));
  const asked: string[] = [];
  for (const [index, blocks] of all.entries()) {
    const calls = blocks.filter(({ type }) => type === "tool_use");
    const results = idsOf(blocks, "tool_result", "tool_use_id");
    const before = idsOf(all[index - 1] ?? [], "tool_use", "id");
    const answered = idsOf(all[index + 1] ?? [], "tool_result", "tool_use_id");
    const fault = callsFault(`messages.${index}.content`, calls);
    if (fault !== undefined) return fault;
    const ids = calls.map(({ id }) => textOf(id));
    asked.push(...ids);
    const missing = ids.filter((id) => !answered.includes(id));
    if (missing.length > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const orphan = results.find((id) => !before.includes(id));
    if (orphan !== undefined)
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    const doubled = firstRepeated(results);
    if (doubled !== undefined)
      return `messages.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${doubled}`;
  }
  return firstRepeated(asked) === undefined ? undefined : "messages: `tool_use` ids must be unique";
}

function callsFault(path: string, calls: JsonObject[]): string | undefined {
  for (const [index, { id, name }] of calls.entries()) {
    const field = `${path}.${index}.tool_use`;
    if (!isLegalId(textOf(id))) return `${field}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (!isLegalName(textOf(name))) return `${field}.name: String should match pattern '${NAME_PATTERN}'`;
  }
  return undefined;
}

function limitFault(body: JsonObject, asked: Asked, isBedrock: boolean): string | undefined {
  const tokens = body.max_tokens;
  if (typeof tokens !== "number") return "max_tokens: Field required";
  const { maxOutputTokens: most, contextTokens: window, promptTokens } = asked;
  if (most !== undefined && tokens > most)
    return isBedrock
      ? `The maximum tokens you requested exceeds the model limit of ${most}. Try again with a maximum tokens value that is lower than ${most}.`
      : `max_tokens: ${tokens} > ${most}, which is the maximum allowed number of output tokens for ${textOf(body.model)}`;
  if (window === undefined || promptTokens + tokens <= window) return undefined;
  if (promptTokens > window) return `prompt is too long: ${promptTokens} tokens > ${window} maximum`;
  return `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${tokens} > ${window}, decrease input length or \`max_tokens\` and try again`;
}

function idsOf(blocks: JsonObject[], type: string, field: string): string[] {
  return blocks.filter((block) => block.type === type).map((block) => textOf(block[field]));
}
