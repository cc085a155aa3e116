/** What commands find in their environment: the agent's own without its secrets, the request's, the chat's id. */

export type Environment = Record<string, string>;

/** The agent's own settings, its token among them; commands must not see them. */
const AGENT_VARIABLE_PREFIX = "PARLEY_AGENT_";

/** Marks all that commands start, so that the agent finds it again when it ends. Not a secret. */
const AGENT_MARK_VARIABLE = "PARLEY_AGENT_INSTANCE";

/** Tells a command for which chat it runs. Always the request's own chat: nobody can claim another. */
const CHAT_ID_VARIABLE = "PARLEY_CHAT_ID";

/** Git's own: which program it runs for user names and passwords. */
const ASKPASS_VARIABLE = "GIT_ASKPASS";
/** Shows for which chat a command runs, and opens nothing but what that chat may have anyway. */
const ASKPASS_KEY_VARIABLE = "PARLEY_AGENT_ASKPASS_KEY";

/** Where a command's git asks for credentials; without a `key` it is told that it has none. */
export type AskpassConfig = { program: string; key: string | undefined };

/** What the askpass program finds in its own environment, and git's directory if git says it. */
export function askpassVariables(): { key?: string; gitDirectory?: string } {
  return {
    key: process.env[ASKPASS_KEY_VARIABLE],
    gitDirectory: process.env["GIT_DIR"],
  };
}

/** A copy of this process's environment as commands may see it. */
export function inheritedEnvironment(): Environment {
  return withoutAgentVariables(process.env);
}

export function withoutAgentVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Environment {
  const kept: Environment = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !name.startsWith(AGENT_VARIABLE_PREFIX)) kept[name] = value;
  }
  return kept;
}

/**
 * Later layers win: inherited, then the askpass program, then the request's, then the chat's id and what is the agent's.
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
  // Also when there is none: a request cannot bring one along.
  delete environment[ASKPASS_KEY_VARIABLE];
  return askpass?.key === undefined ? environment : { ...environment, [ASKPASS_KEY_VARIABLE]: askpass.key };
}

/** How the mark stands in an environment. */
export function agentMark(instanceId: string): string {
  return `${AGENT_MARK_VARIABLE}=${instanceId}`;
}
