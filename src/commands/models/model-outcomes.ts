/** How admins' commands on providers and models end. */
import type { Problem } from "../../domain/mcp/field-rules.js";
import type { CommandRefusal, CommandResult } from "../chats/chat-commands.js";
import type { ModelDependencies } from "./model-commands.js";

/** After the commit, so that whoever reads then reads what was committed. */
export function told<T>(dependencies: ModelDependencies, result: CommandResult<T>): CommandResult<T> {
  if (result.ok) dependencies.announceModels();
  return result;
}

export function invalid({ message, path }: Problem): CommandRefusal {
  return { code: "INVALID", message, path };
}

/** All that is wrong, the first before the others. Throws when nothing is. */
export function refuseAll([first, ...others]: readonly CommandRefusal[]): {
  ok: false;
  refusal: CommandRefusal;
} {
  if (first === undefined) throw new Error("A refusal needs a reason.");
  return { ok: false, refusal: others.length === 0 ? first : { ...first, others } };
}
