/** Context of the current turn: its model, its tools and its workspace. Each is looked up once per turn. */
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { RunnerDependencies } from "./runner-dependencies.js";
import { TurnModelContext } from "./turn-model-context.js";
import { TurnToolsContext } from "./turn-tools-context.js";
import { TurnWorkspaceContext } from "./turn-workspace-context.js";

type Contexts = { model: TurnModelContext; tools: TurnToolsContext; workspace: TurnWorkspaceContext };

export class TurnContext {
  readonly #dependencies: RunnerDependencies;
  readonly #chat: ClaimedChat;
  #current: Contexts;

  constructor(dependencies: RunnerDependencies, chat: ClaimedChat) {
    this.#dependencies = dependencies;
    this.#chat = chat;
    this.#current = openContexts(dependencies, chat);
  }

  get model(): TurnModelContext {
    return this.#current.model;
  }

  get tools(): TurnToolsContext {
    return this.#current.tools;
  }

  get workspace(): TurnWorkspaceContext {
    return this.#current.workspace;
  }

  /** Starts the next turn, which looks everything up again. */
  startTurn(): void {
    this.endTurn();
    this.#current = openContexts(this.#dependencies, this.#chat);
  }

  /** Closes the turn's connections to MCP servers, in the background. */
  endTurn(): void {
    this.tools.close();
  }
}

function openContexts(dependencies: RunnerDependencies, chat: ClaimedChat): Contexts {
  const workspace = new TurnWorkspaceContext(dependencies, chat, () => model.forgetSystemPrompt());
  const tools = new TurnToolsContext(dependencies, chat, workspace);
  const model = new TurnModelContext(dependencies, chat, { tools, workspace });
  return { model, tools, workspace };
}
