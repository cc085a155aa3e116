/** Prompt that requests a summary of a conversation, shortened so that it fits. Pure. */
import { SUMMARY_REQUEST } from "../../domain/chats/compaction.js";
import type { PromptPart } from "../../domain/chats/message-parts.js";
import { cutString } from "../../lib/text/cut-string.js";
import type { PromptMessage } from "../../providers/types.js";
import { repairPrompt } from "./repair.js";

/** Appended as the last user message. */
const REQUEST = `${SUMMARY_REQUEST} Do not call tools and do not go on with the work now. Write the summary only, in the language of the conversation, with these parts:

1. The user's goal, and every constraint or preference they have stated, in their own words where it matters.
2. Decisions made, and why.
3. Technical facts that are still needed: exact paths, commands, identifiers, names, values, versions.
4. Errors that occurred and how they were solved or worked around.
5. Work that is done, work that is under way, work that remains.
6. The very next step.`;

/** Fewer characters per token than usual text has, so that a text within the character budget fits. */
const CHARACTERS_PER_TOKEN = 3;
/** Each try after a refusal sends half as much. */
const SHRINK_PER_LEVEL = 0.5;
/** No single text of a shortened conversation takes more than this share of it. */
const LONGEST_TEXT_SHARE = 1 / 8;
/** However small the model: with less there is nothing to summarize. */
const MIN_CHARACTERS = 4_000;

const OMISSION = "(The beginning of the conversation is left out here: it was too long.)";

/**
 * The conversation and the request. `level` 0 shortens only to the known limit; each further level halves the prompt, for
 * vendors that refused it. `contextLimit` is in tokens, null = unknown.
 */
export function summaryMessages(
  messages: PromptMessage[],
  { contextLimit, level }: { contextLimit: number | null; level: number },
): PromptMessage[] {
  const request: PromptMessage = { role: "user", parts: [{ type: "text", text: REQUEST }] };
  const characters = messages.reduce((sum, message) => sum + charactersOf(message), 0);
  const fitting =
    contextLimit === null ? characters : Math.min(characters, contextLimit * CHARACTERS_PER_TOKEN);
  const budget = Math.max(MIN_CHARACTERS, Math.floor(fitting * SHRINK_PER_LEVEL ** level));
  // Shortening may separate calls from their results.
  return [...(characters <= budget ? messages : repairPrompt(shorten(messages, budget))), request];
}

/** Cuts the middle of long texts, then drops the oldest messages, with a note. */
function shorten(messages: PromptMessage[], budget: number): PromptMessage[] {
  const limit = Math.floor(budget * LONGEST_TEXT_SHARE);
  const cut = messages.map(({ role, parts }) => ({ role, parts: parts.map((part) => cutPart(part, limit)) }));
  let left = budget;
  const first = cut.findLastIndex((message) => (left -= charactersOf(message)) < 0) + 1;
  if (first === 0) return cut;
  return [{ role: "user", parts: [{ type: "text", text: OMISSION }] }, ...cut.slice(first)];
}

function cutPart(part: PromptPart, limit: number): PromptPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: cutString(part.text, limit) };
    case "file-reference":
      return { ...part, content: cutString(part.content, limit) };
    case "tool-call": {
      const text = JSON.stringify(part.arguments);
      return text.length <= limit ? part : { ...part, arguments: { cut: cutString(text, limit) } };
    }
    case "tool-result": {
      if (part.isProviderExecuted) return part;
      const text = typeof part.result === "string" ? part.result : JSON.stringify(part.result);
      return text.length <= limit ? part : { ...part, result: cutString(text, limit) };
    }
    case "reasoning":
    case "source":
    case "file":
      return part;
  }
}

function charactersOf({ parts }: PromptMessage): number {
  return parts.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text.length : JSON.stringify(part).length),
    0,
  );
}
