/** Environment of commands: the allowed part of the agent's own, the request's variables, and the chat's id. */
import { allowedEnvironment } from "../../lib/allowed-environment.js";

export type Environment = Record<string, string>;

/** Marks all descendants of commands, so that the agent finds them when it ends. Not a secret. */
const AGENT_MARK_VARIABLE = "PARLEY_AGENT_INSTANCE";

/** The chat that a command runs for. Always the request's own chat: its `env` cannot override it. */
const CHAT_ID_VARIABLE = "PARLEY_CHAT_ID";

/** Git's own: the program that it runs for user names and passwords. */
const ASKPASS_VARIABLE = "GIT_ASKPASS";
/** Proves the chat that a command runs for; grants only what that chat may have anyway. */
const ASKPASS_KEY_VARIABLE = "PARLEY_AGENT_ASKPASS_KEY";

/** The askpass program of a command's git; without a `key` every request is refused. */
export type AskpassConfig = { program: string; key: string | undefined };

/** The askpass program's own environment: its key, and `GIT_DIR` if git sets it. */
export function askpassVariables(): { key?: string; gitDirectory?: string } {
  return {
    key: process.env[ASKPASS_KEY_VARIABLE],
    gitDirectory: process.env["GIT_DIR"],
  };
}

/** The part of this process's environment that programs inherit; `named`: what the operator allows besides. */
export function inheritedEnvironment(named: readonly string[] = []): Environment {
  return allowedEnvironment(process.env, named);
}

/**
 * Later layers win: inherited, the askpass program, the request's, and finally the chat's id and the agent's own.
 */
export function commandEnvironment(layers: {
  inherited: Environment;
  requested: Environment | undefined;
  chatId: string | undefined;
  instanceId: string;
  askpass?: AskpassConfig | null;
}): Environment {
  const { askpass } = layers;
  const environment: Environment = {
    ...layers.inherited,
    ...(askpass && { [ASKPASS_VARIABLE]: askpass.program }),
    ...layers.requested,
    ...(layers.chatId !== undefined && { [CHAT_ID_VARIABLE]: layers.chatId }),
    [AGENT_MARK_VARIABLE]: layers.instanceId,
  };
  // Unconditionally: a request must not supply a key.
  delete environment[ASKPASS_KEY_VARIABLE];
  return askpass?.key === undefined ? environment : { ...environment, [ASKPASS_KEY_VARIABLE]: askpass.key };
}

/** The mark as an entry of an environment. */
export function agentMark(instanceId: string): string {
  return `${AGENT_MARK_VARIABLE}=${instanceId}`;
}
