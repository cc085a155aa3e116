// Simulated user with one chat: sends messages, and interrupts, edits, queues and archives at random.
import { systemClock, sleep } from "../../src/lib/clock.js";
import type { ApiClient } from "../support/clients/api-client.js";
import type { SendPayload, UserError } from "../support/clients/api-shapes.js";
import type { ChatStatusPoller } from "./chat-status-poller.js";
import { isSettled } from "./chat-status-poller.js";
import { Chance, type Tally } from "./chance.js";
import { CLIENT_TOOLS, type Deployment, isTemporary } from "./deployment.js";
import { ChatRecord, type Entry } from "./record.js";
import { label } from "./vendor.js";

export type SimulatedUserDependencies = {
  deployment: Deployment;
  poller: ChatStatusPoller;
  tally: Tally;
  seed: number;
  /** The user interrupts a turn that has not ended after this time. */
  patienceMs: number;
  onViolation(sentence: string): void;
};

/** Longest pause between two actions of a user who does not wait for the answer. */
const LONGEST_PAUSE_MS = 400;
/** A request whose response was lost is repeated this often, with the same key. */
const MAX_REPEATS = 60;
const REPEAT_AFTER_MS = 100;
/** Payload of any mutation of the soak. */
type MutationPayload = Partial<SendPayload> & { userErrors: UserError[] };

const CHANGES = {
  send: 5,
  "send and interrupt": 4,
  interrupt: 6,
  promote: 5,
  "delete queued": 4,
  edit: 3,
  "archive and unarchive": 2,
  "compact context": 2,
  "clear context": 2,
  "submit results": 2,
  nonsense: 1,
} as const;

export class SimulatedUser {
  readonly record: ChatRecord;
  readonly #chance: Chance;
  #sentCount = 0;

  constructor(
    private readonly dependencies: SimulatedUserDependencies,
    number: number,
  ) {
    this.record = new ChatRecord(number);
    this.#chance = Chance.of(dependencies.seed, "person", number);
  }

  get chatId(): string {
    return this.record.chatId;
  }

  async begin(): Promise<void> {
    const { deployment } = this.dependencies;
    const more = {
      clientTools: CLIENT_TOOLS,
      modelConfigId: this.#chance.pick(deployment.modelConfigIds),
      workspaceId: this.#chance.percent(80) ? deployment.workspaceId : null,
    };
    await this.#send("create", more);
  }

  /** Sends a message, perhaps followed by other actions. */
  async takeTurn(): Promise<void> {
    if (this.#chance.percent(12)) await this.#change("edit");
    else await this.#change(this.#chance.percent(75) ? "send" : "send and interrupt");
    for (let changes = this.#chance.below(4); changes > 0; changes -= 1) {
      await sleep(systemClock, this.#chance.below(LONGEST_PAUSE_MS));
      await this.#change(this.#chance.weighted(CHANGES));
    }
    if (this.#chance.percent(65)) await this.#waitUntilSettled(this.dependencies.patienceMs);
  }

  /**
   * Lets the chat settle, and responds to what waits for the user; some chats are archived as they are. False when the
   * chat has not settled in time.
   */
  async settle(limitMs: number): Promise<boolean> {
    const deadline = Date.now() + limitMs;
    const { chatId } = this;
    if (this.#chance.percent(20)) await this.#command("archive", "archiveChat", { chatId });
    else await this.#command("unarchive", "unarchiveChat", { chatId });
    for (let hasSentLast = false; Date.now() < deadline;) {
      // The last message must be answered, however busy the machine is.
      await this.#waitUntilSettled(hasSentLast ? deadline - Date.now() : this.dependencies.patienceMs);
      const status = await this.dependencies.poller.until(chatId, () => true, 0);
      if (!isSettled(status) || status.isClaimed) continue;
      if (status.isArchived) return true;
      // Messages queued behind a failed turn wait to be promoted.
      if (status.queued > 0) await this.#change("promote");
      else if (hasSentLast && status.status === "waiting") return true;
      else {
        // A settled chat must be able to answer once more.
        await this.#send("send");
        hasSentLast = true;
      }
    }
    return false;
  }

  // ── actions ──────────────────────────────────────────────────────────────

  async #change(change: keyof typeof CHANGES): Promise<void> {
    const { chatId } = this;
    switch (change) {
      case "send":
        return this.#send("send");
      case "send and interrupt":
        return this.#send("send", { whenBusy: "INTERRUPT" });
      case "interrupt":
        return this.#command("interrupt", "interruptChat", { chatId });
      case "promote":
      case "delete queued":
        return this.#changeQueue(change);
      case "edit":
        return this.#edit();
      case "archive and unarchive":
        await this.#command("archive", "archiveChat", { chatId });
        await sleep(systemClock, this.#chance.below(LONGEST_PAUSE_MS));
        return this.#command("unarchive", "unarchiveChat", { chatId });
      case "compact context":
        return this.#command("compact", "compactChat", { chatId });
      case "clear context":
        return this.#command("clear", "clearChatContext", { chatId });
      case "submit results":
        return this.#submitResults();
      case "nonsense": {
        const results = [{ toolCallId: "never_asked", result: 1 }];
        return this.#command("nonsense", "submitToolResults", { chatId, results });
      }
    }
  }

  /** Sends a new message with its own key, repeated until it is answered; sometimes repeated needlessly. */
  async #send(command: "create" | "send", more: object = {}): Promise<void> {
    const text = this.#text();
    const entry = this.record.begin(command, { text });
    const isCreate = command === "create";
    const input = {
      parts: [{ text: { text } }],
      idempotencyKey: `${this.record.number}/${this.#sentCount}`,
      ...(isCreate ? {} : { chatId: this.chatId }),
      ...more,
    };
    const name = isCreate ? "createChat" : "sendChatMessage";
    const fields = isCreate ? "chat { id status }" : "chat { id status } message { id } queuedMessage { id }";
    const send = () => this.#mutate(name, input, fields);
    for (let again = MAX_REPEATS; again > 0; again -= 1) {
      const payload = await send();
      if (payload === null || payload.userErrors.some(({ code }) => code === "UNAVAILABLE")) {
        this.dependencies.tally.add("repeated requests", "because the response was lost");
        await sleep(systemClock, REPEAT_AFTER_MS);
        continue;
      }
      const isInHistory = payload.message != null;
      this.#record(entry, payload, { queuedId: payload.queuedMessage?.id ?? null, isInHistory });
      if (payload.userErrors.length > 0) return;
      this.record.keys += 1;
      if (isCreate) this.record.chatId = payload.chat?.id ?? "";
      if (!this.#chance.percent(10)) return;
      this.dependencies.tally.add("repeated requests", "needlessly");
      const second = await send();
      if (second && second.chat?.id !== payload.chat?.id)
        this.dependencies.onViolation(
          `A repeated request had a different response: ${JSON.stringify([payload, second])}`,
        );
      return;
    }
    this.dependencies.onViolation(`No server responded: ${text}`);
  }

  #text(): string {
    this.#sentCount += 1;
    return `${label(this.record.number, this.#sentCount)}${" Please go on.".repeat(this.#chance.below(4))}`;
  }

  async #edit(): Promise<void> {
    const users = (await this.#read())?.messages.nodes.filter(({ role }) => role === "USER").slice(-4) ?? [];
    if (users.length === 0) return;
    const text = this.#text();
    const entry = this.record.begin("edit", { text });
    const input = { messageId: this.#chance.pick(users).id, parts: [{ text: { text } }] };
    this.#record(entry, await this.#mutate("editChatMessage", input, "chat { id }"));
  }

  async #changeQueue(change: "promote" | "delete queued"): Promise<void> {
    const queue = (await this.#read())?.queuedMessages ?? [];
    if (queue.length === 0) return;
    const queuedMessageId = this.#chance.pick(queue).id;
    if (change === "promote") return this.#command("promote", "promoteQueuedMessage", { queuedMessageId });
    const entry = this.record.begin("delete queued", { queuedId: queuedMessageId });
    this.#record(entry, await this.#mutate("deleteQueuedMessage", { queuedMessageId }, "deletedId"));
  }

  async #submitResults(): Promise<void> {
    const calls = (await this.#read())?.pendingToolCalls ?? [];
    if (calls.length === 0) return;
    const results = calls.map(({ toolCallId }) => ({
      toolCallId,
      result: { answer: this.#chance.below(100) },
      isError: this.#chance.percent(10),
    }));
    await this.#command("submit results", "submitToolResults", { chatId: this.chatId, results });
  }

  async #waitUntilSettled(patienceMs: number): Promise<void> {
    const { poller } = this.dependencies;
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const isDone = (it: { status: string }) =>
        isSettled({ status: it.status as "waiting" }) || it.status === "requires_action";
      const status = await poller.until(this.chatId, isDone, Math.max(0, deadline - Date.now()));
      if (isSettled(status)) return;
      if (status.status === "requires_action" && this.#chance.percent(85))
        await this.#change("submit results");
      else if (status.status === "requires_action") await this.#change("interrupt");
      else {
        this.dependencies.tally.add("users", "lost patience");
        await this.#change("interrupt");
        return;
      }
    }
  }

  // ── requests ─────────────────────────────────────────────────────────────

  async #command(command: string, mutation: string, input: object): Promise<void> {
    const entry = this.record.begin(command);
    this.#record(entry, await this.#mutate(mutation, input, "chat { id }"));
  }

  #record(
    entry: Entry,
    payload: MutationPayload | null,
    more: Pick<Entry, "queuedId" | "isInHistory"> = {},
  ): void {
    const codes = payload?.userErrors.map(({ code }) => code) ?? [];
    const outcome = payload === null ? "unknown" : codes.length > 0 ? "refused" : "done";
    this.dependencies.tally.add("commands", entry.command);
    if (outcome !== "done")
      this.dependencies.tally.add(`commands not done`, `${entry.command} ${codes.join() || outcome}`);
    this.record.end(entry, outcome, { ...more, ...(codes.length > 0 ? { codes } : {}) });
    const odd = codes.filter((code) => !EXPECTED_REFUSALS.includes(code));
    if (odd.length > 0)
      this.dependencies.onViolation(
        `${entry.command} of ${this.chatId} was refused: ${JSON.stringify(payload?.userErrors)}`,
      );
  }

  /** Null when there was no response. */
  async #mutate(mutation: string, input: object, fields: string): Promise<MutationPayload | null> {
    return this.#try((api) => api.change<MutationPayload>(mutation, input, fields));
  }

  async #read() {
    return this.#try((api) => api.chat(this.chatId));
  }

  async #try<T>(work: (api: ApiClient) => Promise<T>): Promise<T | null> {
    try {
      return await work(this.dependencies.deployment.server(this.#chance));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.dependencies.tally.add("unanswered requests", text.slice(0, 120));
      // A crashing server sends no response, an incomplete one, or that it is closing; anything else is a violation.
      const isGone = error instanceof TypeError || error instanceof SyntaxError || isTemporary(text);
      if (!isGone) this.dependencies.onViolation(`${this.chatId}: ${text}`);
      return null;
    }
  }
}

/** UNAVAILABLE: the database was away. */
const EXPECTED_REFUSALS = ["CONFLICT", "NOT_FOUND", "LIMIT_EXCEEDED", "UNAVAILABLE"];
