/**
 * Subagents of a chat's agent: spawn, message, wait, interrupt and list. Every decision is made on the family as it is
 * in the database, with its root locked, so that a turn that is being stopped starts nothing more; a repeated call
 * finds the effect of the first one by its key.
 *
 * The only state here is the set of waiting chats. Nothing else is kept between calls, so a wait continues at whatever
 * replica takes over the chat.
 */
import { ancestorsOf, descendantsOf, linksOf } from "../../domain/chats/family.js";
import { agentStatusOf, isBusy } from "../../domain/chats/subagents.js";
import { sleep } from "../../lib/clock.js";
import { type AgentRecord, readAgent, readFamily } from "../../store/chats/families.js";
import { applyToFamily, stopBelow } from "../transitions/apply-family.js";
import { messageSubagent } from "./message-subagent.js";
import {
  type Agent,
  type Agents,
  type AgentWithStatus,
  type Answer,
  type ListedAgent,
  NOT_BELOW,
  type SubagentCaller,
  type SubagentDependencies,
} from "./ports.js";
import { spawnSubagent } from "./spawn.js";

/** How soon a wait notices a change whose event was lost. */
const POLL_MS = 5_000;

type WaitLimits = { timeoutMs: number; signal: AbortSignal };

export class Subagents {
  readonly #dependencies: SubagentDependencies;
  /** Number of waits under way in this process, by chat. */
  readonly #waits = new Map<string, number>();

  constructor(dependencies: SubagentDependencies) {
    this.#dependencies = dependencies;
  }

  get maxDepth(): number {
    return this.#dependencies.maxDepth;
  }

  /** Chats of this process that only wait for subagents. */
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
    return ancestorsOf(chat.chatId, linksOf(await readFamily(this.#dependencies.database, chat.rootChatId)));
  }

  /** The actions of a chat's agent. */
  of(caller: SubagentCaller): Agents {
    const dependencies = this.#dependencies;
    return {
      spawn: (request, key) => spawnSubagent(dependencies, caller, request, key),
      wait: (chatId, limits) => this.#wait(caller, chatId, limits),
      message: (chatId, message, key) => messageSubagent(dependencies, caller, { chatId, ...message }, key),
      interrupt: (chatId) => this.#interrupt(caller, chatId),
      list: () => this.#list(caller),
    };
  }

  async #wait(
    caller: SubagentCaller,
    chatId: string,
    limits: WaitLimits,
  ): Promise<Answer<{ agent: AgentWithStatus }>> {
    const record = await this.#find(caller, chatId);
    if (!record) return NOT_BELOW;
    const status = agentStatusOf(record);
    if (status.status !== "working") return { ok: true, agent: { ...agentOf(record), status } };
    this.#waits.set(caller.chatId, (this.#waits.get(caller.chatId) ?? 0) + 1);
    try {
      return await this.#untilSettled(chatId, limits);
    } finally {
      const left = (this.#waits.get(caller.chatId) ?? 1) - 1;
      if (left > 0) this.#waits.set(caller.chatId, left);
      else this.#waits.delete(caller.chatId);
    }
  }

  /** Events only trigger reads: the answer always comes from the database. */
  async #untilSettled(
    chatId: string,
    { timeoutMs, signal }: WaitLimits,
  ): Promise<Answer<{ agent: AgentWithStatus }>> {
    const { bus, clock, database } = this.#dependencies;
    const deadline = clock.now() + timeoutMs;
    let wakeUp = new AbortController();
    const unsubscribe = await bus.subscribeChat(chatId, {
      saved: ({ state }) => {
        if (!isBusy(state.status)) wakeUp.abort();
      },
      live: () => undefined,
    });
    try {
      for (;;) {
        signal.throwIfAborted();
        wakeUp = new AbortController();
        const record = await readAgent(database, chatId);
        if (!record) return NOT_BELOW;
        const status = agentStatusOf(record);
        const leftMs = deadline - clock.now();
        if (status.status !== "working" || leftMs <= 0)
          return { ok: true, agent: { ...agentOf(record), status } };
        await sleep(clock, Math.min(POLL_MS, leftMs), AbortSignal.any([wakeUp.signal, signal]));
      }
    } finally {
      unsubscribe();
    }
  }

  async #interrupt(
    caller: SubagentCaller,
    chatId: string,
  ): Promise<Answer<{ agent: Agent; wasWorking: boolean }>> {
    const record = await this.#find(caller, chatId);
    if (!record) return NOT_BELOW;
    const commands = [{ type: "interrupt" as const }];
    const result = await applyToFamily(this.#dependencies, { chatId, commands, below: stopBelow });
    return { ok: true, agent: agentOf(record), wasWorking: result.outcome === "changed" };
  }

  async #list({ chatId, rootChatId }: SubagentCaller): Promise<ListedAgent[]> {
    const family = await readFamily(this.#dependencies.database, rootChatId);
    return descendantsOf(chatId, family).map((member) => ({
      chatId: member.chatId,
      title: member.title,
      kind: member.kind ?? "general",
      status: listedStatus(member),
    }));
  }

  /** Null when the chat is not below the caller's. */
  async #find(caller: SubagentCaller, chatId: string): Promise<AgentRecord | null> {
    const { database } = this.#dependencies;
    const family = await readFamily(database, caller.rootChatId);
    const isBelow = descendantsOf(caller.chatId, family).some((member) => member.chatId === chatId);
    return isBelow ? readAgent(database, chatId) : null;
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
