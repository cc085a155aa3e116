/**
 * What an agent may do with subagents of its own: start one, tell it something, wait for its report, stop it, see how
 * they stand. Everything is decided on the family as it stands in the database, with its root held, so that a turn
 * that is being stopped starts nothing more; a call that is made again finds by its key what it did the first time.
 *
 * The only state here is which chats wait now. Nothing else is remembered between two calls, so a wait goes on at
 * whatever replica takes the chat over.
 */
import { ancestorsOf, descendantsOf, linksOf } from "../../domain/chats/family.js";
import { isBusy, agentStatusOf } from "../../domain/chats/subagents.js";
import { sleep } from "../../lib/clock.js";
import { type AgentRecord, readAgent, readFamily } from "../../store/chats/families.js";
import { applyToFamily, stopBelow } from "../transitions/apply-family.js";
import {
  type Agent,
  type Agents,
  type Answer,
  type SubagentCaller,
  type ListedAgent,
  NOT_BELOW,
  type AgentWithStatus,
  type SubagentDependencies,
} from "./ports.js";
import { spawnSubagent } from "./spawn.js";
import { messageSubagent } from "./message-subagent.js";

/** How soon a wait notices what it was not told of. */
const POLL_MS = 5_000;

export class Subagents {
  readonly #parts: SubagentDependencies;
  /** How many waits of each chat are under way in this process. */
  readonly #waits = new Map<string, number>();

  constructor(parts: SubagentDependencies) {
    this.#parts = parts;
  }

  get maxDepth(): number {
    return this.#parts.maxDepth;
  }

  /** Chats of this process that do nothing but wait for subagents. */
  get waitingChats(): number {
    return this.#waits.size;
  }

  /** The chats above a chat, nearest first. */
  async ancestorsOf(chat: {
    chatId: string;
    rootChatId: string;
    parentChatId: string | null;
    depth: number;
  }): Promise<string[]> {
    if (chat.parentChatId === null) return [];
    if (chat.depth === 1) return [chat.parentChatId];
    return ancestorsOf(chat.chatId, linksOf(await readFamily(this.#parts.database, chat.rootChatId)));
  }

  /** What the agent of a chat may do. */
  of(caller: SubagentCaller): Agents {
    return {
      spawn: (wish, key) => spawnSubagent(this.#parts, caller, wish, key),
      wait: (chatId, limits) => this.#wait(caller, chatId, limits),
      tell: (chatId, message, key) => messageSubagent(this.#parts, caller, { chatId, ...message }, key),
      interrupt: (chatId) => this.#interrupt(caller, chatId),
      list: () => this.#list(caller),
    };
  }

  async #wait(
    caller: SubagentCaller,
    chatId: string,
    limits: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Answer<{ agent: AgentWithStatus }>> {
    const record = await this.#find(caller, chatId);
    if (!record) return NOT_BELOW;
    const standing = agentStatusOf(record);
    if (standing.status !== "working") return { ok: true, agent: { ...agentOf(record), standing } };
    this.#waits.set(caller.chatId, (this.#waits.get(caller.chatId) ?? 0) + 1);
    try {
      return await this.#untilItRests(chatId, limits);
    } finally {
      const left = (this.#waits.get(caller.chatId) ?? 1) - 1;
      if (left > 0) this.#waits.set(caller.chatId, left);
      else this.#waits.delete(caller.chatId);
    }
  }

  /** News only says when to look: what is told is always what stands in the database then. */
  async #untilItRests(
    chatId: string,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Answer<{ agent: AgentWithStatus }>> {
    const { bus, clock, database } = this.#parts;
    const deadline = clock.now() + timeoutMs;
    let bell = new AbortController();
    const detach = await bus.subscribeChat(chatId, {
      saved: ({ state }) => {
        if (!isBusy(state.status)) bell.abort();
      },
      live: () => undefined,
    });
    try {
      for (;;) {
        signal.throwIfAborted();
        bell = new AbortController();
        const record = await readAgent(database, chatId);
        if (!record) return NOT_BELOW;
        const standing = agentStatusOf(record);
        const leftMs = deadline - clock.now();
        if (standing.status !== "working" || leftMs <= 0)
          return { ok: true, agent: { ...agentOf(record), standing } };
        await sleep(clock, Math.min(POLL_MS, leftMs), AbortSignal.any([bell.signal, signal]));
      }
    } finally {
      detach();
    }
  }

  async #interrupt(
    caller: SubagentCaller,
    chatId: string,
  ): Promise<Answer<{ agent: Agent; wasWorking: boolean }>> {
    const record = await this.#find(caller, chatId);
    if (!record) return NOT_BELOW;
    const commands = [{ type: "interrupt" as const }];
    const result = await applyToFamily(this.#parts, { chatId, commands, below: stopBelow });
    return { ok: true, agent: agentOf(record), wasWorking: result.outcome === "changed" };
  }

  async #list({ chatId, rootChatId }: SubagentCaller): Promise<ListedAgent[]> {
    const family = await readFamily(this.#parts.database, rootChatId);
    return descendantsOf(chatId, family).map((kin) => ({
      chatId: kin.chatId,
      title: kin.title,
      kind: kin.kind ?? "general",
      status: listedStatus(kin),
    }));
  }

  /** The chat as it stands, if it is below the one that asks. */
  async #find(caller: SubagentCaller, chatId: string): Promise<AgentRecord | null> {
    const family = await readFamily(this.#parts.database, caller.rootChatId);
    const isBelow = descendantsOf(caller.chatId, family).some((kin) => kin.chatId === chatId);
    return isBelow ? readAgent(this.#parts.database, chatId) : null;
  }
}

function listedStatus({ status, isArchived }: Pick<AgentRecord["state"], "status" | "isArchived">) {
  if (isBusy(status)) return "working";
  if (isArchived) return "archived";
  return status === "error" ? "failed" : "at_rest";
}

function agentOf({ chatId, title, kind }: AgentRecord): Agent {
  return { chatId, title, kind: kind ?? "general" };
}
