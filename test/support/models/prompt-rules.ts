// Checks of a prompt for what any vendor would refuse: stricter than each of the imitated vendors.
import { type JsonObject } from "../../../src/domain/common/json.js";
import { objectsOf, textOf } from "../../../src/demo-model/request.js";

/** Names that all vendors take: some want a letter first, none takes more than 64 characters. */
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
/** Ids that all vendors take but Mistral. */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
/** OpenAI takes no more. */
const MAX_TOOLS = 128;

/** A sentence for each thing that api.anthropic.com, or another vendor with the same history, answers with a 400. */
export function promptProblems(body: JsonObject): string[] {
  const messages = objectsOf(body["messages"]);
  const problems: string[] = nameProblems(objectsOf(body["tools"]), messages.flatMap(blocksOf));
  if (messages[0]?.["role"] !== "user") problems.push("the prompt does not begin with the user");
  if (messages.at(-1)?.["role"] !== "user") problems.push("the prompt does not end with the user");
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const asked = idsOf(blocks, "tool_use", "id");
    const answered = idsOf(blocksOf(messages[index + 1]), "tool_result", "tool_use_id");
    const results = idsOf(blocks, "tool_result", "tool_use_id");
    const before = idsOf(blocksOf(messages[index - 1]), "tool_use", "id");
    for (const id of asked)
      if (!answered.includes(id)) problems.push(`the call ${id} has no result right after it`);
    for (const id of results)
      if (!before.includes(id)) problems.push(`the result ${id} has no call right before it`);
    if (new Set(results).size < results.length) problems.push("a call has two results");
    if (blocks.length === 0) problems.push(`message ${index} is empty`);
    for (const block of blocks) problems.push(...blockProblems(block));
  }
  return problems;
}

function nameProblems(tools: JsonObject[], blocks: JsonObject[]): string[] {
  const toolNames = tools.map(({ name }) => textOf(name));
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const ids = calls.map(({ id }) => textOf(id));
  const names = [...toolNames, ...calls.map(({ name }) => textOf(name))];
  return [
    ...names.filter((name) => !NAME.test(name)).map((name) => `no vendor takes the name ${name}`),
    ...ids.filter((id) => !ID.test(id)).map((id) => `no vendor takes the id ${id}`),
    ...(new Set(toolNames).size < toolNames.length ? ["two tools have one name"] : []),
    ...(new Set(ids).size < ids.length ? ["two calls have one id"] : []),
    ...(tools.length > MAX_TOOLS ? [`there are ${tools.length} tools`] : []),
  ];
}

function blockProblems(block: JsonObject): string[] {
  if (block["type"] === "text" && textOf(block["text"]).trim() === "") return ["a text is empty"];
  if (block["type"] === "thinking" && textOf(block["signature"]) === "")
    return ["a thought has no signature"];
  return [];
}

function blocksOf(message: JsonObject | undefined): JsonObject[] {
  const content = message?.["content"];
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
}

function idsOf(blocks: JsonObject[], type: string, field: string): string[] {
  return blocks.filter((block) => block["type"] === type).map((block) => textOf(block[field]));
}
