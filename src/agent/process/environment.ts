/** What commands find in their environment: the agent's own without its secrets, the request's, the chat's id. */

export type Environment = Record<string, string>;

/** The agent's own settings, its token among them; commands must not see them. */
const AGENT_VARIABLE_PREFIX = "PARLEY_AGENT_";

/** Marks all that commands start, so that the agent finds it again when it ends. Not a secret. */
const AGENT_MARK_VARIABLE = "PARLEY_AGENT_INSTANCE";

/** Tells a command for which chat it runs. Always the request's own chat: nobody can claim another. */
const CHAT_ID_VARIABLE = "PARLEY_CHAT_ID";

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

/** Later layers win: inherited, then the request's, then the chat's id and the agent's mark. */
export function commandEnvironment(layers: {
  inherited: Environment;
  requested: Environment | undefined;
  chatId: string | undefined;
  instanceId: string;
}): Environment {
  return {
    ...layers.inherited,
    ...layers.requested,
    ...(layers.chatId !== undefined && { [CHAT_ID_VARIABLE]: layers.chatId }),
    [AGENT_MARK_VARIABLE]: layers.instanceId,
  };
}

/** How the mark stands in an environment. */
export function agentMark(instanceId: string): string {
  return `${AGENT_MARK_VARIABLE}=${instanceId}`;
}
