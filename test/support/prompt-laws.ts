// What a vendor would refuse in a prompt, in Anthropic's words: the played one takes everything, so tests look here.
import { type JsonObject } from "../../src/domain/json.js";
import { objectsOf, textOf } from "../../src/demo-model/request.js";

/** A sentence for each thing that api.anthropic.com answers with a 400. */
export function promptProblems(body: JsonObject): string[] {
  const messages = objectsOf(body["messages"]);
  const problems: string[] = [];
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
