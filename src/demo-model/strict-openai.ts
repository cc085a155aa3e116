/** What OpenAI's two formats answer with a 400, in the vendor's own words (and vLLM's, for its window). Pure. */
import type { JsonObject } from "../domain/common/json.js";
import { firstRepeated, isLegalName, type Placed, placed } from "./faults.js";
import type { Asked } from "./limits.js";
import { type DemoTurn, objectOf, objectsOf, textOf } from "./request.js";

export type OpenaiFault = { message: string; param: string | null; code: string | null };

const TOOLS_LIMIT = 128;
const NAME_LIMIT_CHARACTERS = 64;
const CHAT_ID_LIMIT_CHARACTERS = 40;
const RESPONSES_ID_LIMIT_CHARACTERS = 64;

/** Undefined = the request is taken. */
export function openaiChatFault(body: JsonObject, asked: Asked): OpenaiFault | undefined {
  const tools = placed("tools", objectsOf(body.tools)).map(({ path, entry }) => ({
    path: `${path}.function.name`,
    value: textOf(objectOf(entry.function).name),
  }));
  const messages = placed("messages", objectsOf(body.messages));
  const calls = messages.flatMap(({ path, entry }) =>
    placed(`${path}.tool_calls`, objectsOf(entry.tool_calls)),
  );
  const names = calls.map(({ path, entry }) => ({
    path: `${path}.function.name`,
    value: textOf(objectOf(entry.function).name),
  }));
  const ids = [
    ...calls.map(({ path, entry }) => ({ path: `${path}.id`, value: textOf(entry.id) })),
    ...messages
      .filter(({ entry }) => entry.role === "tool")
      .map(({ path, entry }) => ({ path: `${path}.tool_call_id`, value: textOf(entry.tool_call_id) })),
  ];
  return (
    toolsFault(tools) ??
    firstOf(names, nameFault) ??
    firstOf(ids, (it) => lengthFault(it, CHAT_ID_LIMIT_CHARACTERS)) ??
    chatPairsFault(messages.map(({ entry }) => entry)) ??
    chatLimitFault(body, asked)
  );
}

/** `stored`: the stored conversation that the request goes on from. */
export function openaiResponsesFault(
  body: JsonObject,
  asked: Asked,
  stored: readonly DemoTurn[],
): OpenaiFault | undefined {
  const tools = placed("tools", objectsOf(body.tools))
    .filter(({ entry }) => entry.type === "function")
    .map(({ path, entry }) => ({ path: `${path}.name`, value: textOf(entry.name) }));
  const items = placed("input", Array.isArray(body.input) ? objectsOf(body.input) : []);
  const calls = items.filter(({ entry }) => entry.type === "function_call");
  const outputs = items.filter(({ entry }) => entry.type === "function_call_output");
  const names = calls.map(({ path, entry }) => ({ path: `${path}.name`, value: textOf(entry.name) }));
  const ids = [...calls, ...outputs].map(({ path, entry }) => ({
    path: `${path}.call_id`,
    value: textOf(entry.call_id),
  }));
  const called = [
    ...stored.flatMap((turn) => (turn.role === "assistant" ? turn.calls.map(({ id }) => id) : [])),
    ...calls.map(({ entry }) => textOf(entry.call_id)),
  ];
  const answered = [
    ...stored.flatMap((turn) => (turn.role === "results" ? turn.results.map(({ id }) => id) : [])),
    ...outputs.map(({ entry }) => textOf(entry.call_id)),
  ];
  return (
    toolsFault(tools) ??
    firstOf(names, nameFault) ??
    firstOf(ids, (it) => lengthFault(it, RESPONSES_ID_LIMIT_CHARACTERS)) ??
    responsesPairsFault(called, answered) ??
    responsesLimitFault(body, asked)
  );
}

function firstOf(
  list: readonly Placed[],
  faultOf: (entry: Placed) => OpenaiFault | undefined,
): OpenaiFault | undefined {
  for (const entry of list) {
    const fault = faultOf(entry);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function toolsFault(names: readonly Placed[]): OpenaiFault | undefined {
  if (names.length > TOOLS_LIMIT)
    return {
      message: `Invalid 'tools': array too long. Expected an array with maximum length ${TOOLS_LIMIT}, but got an array with length ${names.length} instead.`,
      param: "tools",
      code: "array_above_max_length",
    };
  const repeated = firstRepeated(names.map(({ value }) => value));
  if (repeated !== undefined)
    return { message: `Duplicate tool name: ${repeated}.`, param: "tools", code: "invalid_value" };
  return firstOf(names, nameFault);
}

function nameFault({ path, value }: Placed): OpenaiFault | undefined {
  if (value === "")
    return {
      message: `Invalid '${path}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
      param: path,
      code: "empty_string",
    };
  if (value.length > NAME_LIMIT_CHARACTERS) return tooLong(path, value, NAME_LIMIT_CHARACTERS);
  if (isLegalName(value)) return undefined;
  return {
    message: `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    param: path,
    code: "invalid_value",
  };
}

function lengthFault({ path, value }: Placed, limit: number): OpenaiFault | undefined {
  if (value === "")
    return {
      message: `Invalid '${path}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
      param: path,
      code: "empty_string",
    };
  return value.length > limit ? tooLong(path, value, limit) : undefined;
}

function tooLong(path: string, value: string, limit: number): OpenaiFault {
  return {
    message: `Invalid '${path}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${value.length} instead.`,
    param: path,
    code: "string_above_max_length",
  };
}

function chatPairsFault(messages: readonly JsonObject[]): OpenaiFault | undefined {
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = textOf(message.tool_call_id);
      if (!open.delete(id))
        return invalid(
          `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
          `messages.[${index}].role`,
        );
      continue;
    }
    if (open.size > 0) break;
    const ids = objectsOf(message.tool_calls).map(({ id }) => textOf(id));
    const repeated = firstRepeated(ids);
    if (repeated !== undefined)
      return invalid(`Duplicate value for 'tool_call_id' of '${repeated}' in message[${index}].`, null);
    for (const id of ids) open.add(id);
  }
  if (open.size === 0) return undefined;
  return invalid(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
    "messages",
  );
}

function responsesPairsFault(
  called: readonly string[],
  answered: readonly string[],
): OpenaiFault | undefined {
  const repeated = firstRepeated(called) ?? firstRepeated(answered);
  if (repeated !== undefined) return invalid(`Duplicate item found with call_id ${repeated}.`, "input");
  const orphan = answered.find((id) => !called.includes(id));
  if (orphan !== undefined)
    return invalid(`No tool call found for function call output with call_id ${orphan}.`, "input");
  const open = called.find((id) => !answered.includes(id));
  return open === undefined ? undefined : invalid(`No tool output found for function call ${open}.`, "input");
}

function chatLimitFault(body: JsonObject, asked: Asked): OpenaiFault | undefined {
  const param = body.max_completion_tokens === undefined ? "max_tokens" : "max_completion_tokens";
  const tokens = body[param];
  if (typeof tokens !== "number") return windowFault(0, asked);
  const { maxOutputTokens: most } = asked;
  if (most !== undefined && tokens > most)
    return {
      message: `max_tokens is too large: ${tokens}. This model supports at most ${most} completion tokens, whereas you provided ${tokens}.`,
      param,
      code: "invalid_value",
    };
  return windowFault(tokens, asked);
}

function responsesLimitFault(body: JsonObject, asked: Asked): OpenaiFault | undefined {
  const tokens = body.max_output_tokens;
  if (typeof tokens !== "number") return windowFault(0, asked);
  const { maxOutputTokens: most } = asked;
  if (most !== undefined && tokens > most)
    return {
      message: `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${most}, but got ${tokens} instead.`,
      param: "max_output_tokens",
      code: "integer_above_max_value",
    };
  return windowFault(tokens, asked);
}

/** As vLLM counts it. */
function windowFault(
  tokens: number,
  { contextTokens: window, promptTokens }: Asked,
): OpenaiFault | undefined {
  if (window === undefined || promptTokens + tokens <= window) return undefined;
  if (promptTokens >= window)
    return {
      message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
      param: "messages",
      code: "context_length_exceeded",
    };
  return invalid(
    `'max_tokens' or 'max_completion_tokens' is too large: ${tokens}. This model's maximum context length is ${window} tokens and your request has ${promptTokens} input tokens (${tokens} > ${window} - ${promptTokens}).`,
    "max_tokens",
  );
}

function invalid(message: string, param: string | null): OpenaiFault {
  return { message, param, code: null };
}
