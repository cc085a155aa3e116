/** Outcomes shared by the admin commands: refusals and the announcement after a commit. */
import type { Problem } from "../../domain/mcp/field-rules.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import type { ModelDependencies } from "./model-dependencies.js";

/** Announces a change after its commit, so that replicas that reload read the committed state. */
export function announced<T>(dependencies: ModelDependencies, result: CommandResult<T>): CommandResult<T> {
  if (result.ok) dependencies.announceModels();
  return result;
}

export function invalid({ message, path }: Problem): CommandRefusal {
  return { code: "INVALID", message, path };
}

/** One refusal with all problems, the first before the others. Throws when the list is empty. */
export function refuseAll([first, ...others]: readonly CommandRefusal[]): {
  ok: false;
  refusal: CommandRefusal;
} {
  if (first === undefined) throw new Error("A refusal needs a reason.");
  return { ok: false, refusal: others.length === 0 ? first : { ...first, others } };
}
