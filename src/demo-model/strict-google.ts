/** What Gemini answers with a 400, in its own words. Pure. */
import type { JsonObject } from "../domain/common/json.js";
import { firstRepeated } from "./faults.js";
import type { Asked } from "./limits.js";
import { objectOf, objectsOf, textOf } from "./request.js";

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const NAME_RULE =
  "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.";

/** Undefined = the request is taken. */
export function googleFault(body: JsonObject, asked: Asked, demandsSignatures: boolean): string | undefined {
  return (
    namesFault(body) ??
    pairsFault(objectsOf(body.contents), demandsSignatures) ??
    limitFault(objectOf(body.generationConfig).maxOutputTokens, asked)
  );
}

function namesFault(body: JsonObject): string | undefined {
  const names: string[] = [];
  for (const [at, tool] of objectsOf(body.tools).entries())
    for (const [index, { name }] of objectsOf(tool.functionDeclarations).entries()) {
      if (!NAME.test(textOf(name)))
        return `* GenerateContentRequest.tools[${at}].function_declarations[${index}].name: ${NAME_RULE}\n`;
      names.push(textOf(name));
    }
  const repeated = firstRepeated(names);
  if (repeated !== undefined) return `Duplicate function declaration found: ${repeated}`;
  for (const [at, { parts }] of objectsOf(body.contents).entries())
    for (const [index, part] of objectsOf(parts).entries()) {
      const kind = part.functionCall === undefined ? "function_response" : "function_call";
      const call = part.functionCall ?? part.functionResponse;
      const field = `* GenerateContentRequest.contents[${at}].parts[${index}].${kind}.name`;
      if (call === undefined) continue;
      const name = textOf(objectOf(call).name);
      if (name === "") return `${field}: Name cannot be empty.\n`;
      if (!NAME.test(name)) return `${field}: ${NAME_RULE}\n`;
    }
  return undefined;
}

function pairsFault(contents: JsonObject[], demandsSignatures: boolean): string | undefined {
  const turns = contents.map(({ parts }) => objectsOf(parts));
  const callsOf = (turn: JsonObject[]) => turn.filter(({ functionCall }) => functionCall !== undefined);
  for (const [index, turn] of turns.entries()) {
    const calls = callsOf(turn);
    const answers = (turns[index + 1] ?? []).filter(({ functionResponse }) => functionResponse !== undefined);
    if (calls.length !== answers.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    if (demandsSignatures && calls.length > 0 && calls[0]?.thoughtSignature === undefined)
      return "Function call is missing a thought_signature in functionCall parts.";
  }
  return undefined;
}

function limitFault(tokens: unknown, { maxOutputTokens: most, contextTokens: window, promptTokens }: Asked) {
  if (typeof tokens === "number" && most !== undefined && tokens > most)
    return `Unable to submit request because it has a maxOutputTokens value of ${tokens} but the supported range is from 1 (inclusive) to ${most + 1} (exclusive). Update the value and try again.`;
  if (window === undefined || promptTokens <= window) return undefined;
  return `The input token count (${promptTokens}) exceeds the maximum number of tokens allowed (${window}).`;
}
