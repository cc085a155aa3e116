// One person with one chat: says things, changes their mind in every way the API knows, and waits or does not wait.
import { systemClock, sleep } from "../../src/lib/clock.js";
import type { ApiClient } from "../support/clients/api-client.js";
import type { SendPayload, UserError } from "../support/clients/api-shapes.js";
import type { Board } from "./board.js";
import { isAtRest } from "./board.js";
import { Chance, type Tally } from "./chance.js";
import { CLIENT_TOOLS, type Deployment, isPassing } from "./deployment.js";
import { ChatRecord, type Entry } from "./record.js";
import { label } from "./vendor.js";

export type PersonParts = {
  deployment: Deployment;
  board: Board;
  tally: Tally;
  seed: number;
  /** After so long without an end a person stops the turn. */
  patienceMs: number;
  complain(sentence: string): void;
};

/** Between two things that a person does at most so long, when they do not wait for the answer. */
const LONGEST_PAUSE_MS = 400;
/** A request whose answer was lost is made again this often, with the same key, until a server answers. */
const MAX_REPEATS = 60;
const REPEAT_AFTER_MS = 100;
/** The payload of any command that the soak gives. */
type Answered = Partial<SendPayload> & { userErrors: UserError[] };

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

export class Person {
  readonly record: ChatRecord;
  readonly #chance: Chance;
  #said = 0;

  constructor(
    private readonly parts: PersonParts,
    number: number,
  ) {
    this.record = new ChatRecord(number);
    this.#chance = Chance.of(parts.seed, "person", number);
  }

  get chatId(): string {
    return this.record.chatId;
  }

  async begin(): Promise<void> {
    const { deployment } = this.parts;
    const more = {
      clientTools: CLIENT_TOOLS,
      modelConfigId: this.#chance.pick(deployment.modelConfigIds),
      workspaceId: this.#chance.percent(80) ? deployment.workspaceId : null,
    };
    await this.#say("create", more);
  }

  /** One more message and what comes of it. */
  async takeTurn(): Promise<void> {
    if (this.#chance.percent(12)) await this.#change("edit");
    else await this.#change(this.#chance.percent(75) ? "send" : "send and interrupt");
    for (let changes = this.#chance.below(4); changes > 0; changes -= 1) {
      await sleep(systemClock, this.#chance.below(LONGEST_PAUSE_MS));
      await this.#change(this.#chance.weighted(CHANGES));
    }
    if (this.#chance.percent(65)) await this.#waitForRest(this.parts.patienceMs);
  }

  /**
   * Lets everything end and answers what waits for this person; some chats go into the archive as they are. False
   * when the chat has not come to rest in time.
   */
  async settle(limitMs: number): Promise<boolean> {
    const deadline = Date.now() + limitMs;
    const { chatId } = this;
    if (this.#chance.percent(20)) await this.#command("archive", "archiveChat", { chatId });
    else await this.#command("unarchive", "unarchiveChat", { chatId });
    for (let hasSaidLast = false; Date.now() < deadline;) {
      // The last word is to be answered, however busy the machine is.
      await this.#waitForRest(hasSaidLast ? deadline - Date.now() : this.parts.patienceMs);
      const standing = await this.parts.board.until(chatId, () => true, 0);
      if (!isAtRest(standing) || standing.isHeld) continue;
      if (standing.isArchived) return true;
      // What waits behind a failed turn waits for somebody to promote it.
      if (standing.queued > 0) await this.#change("promote");
      else if (hasSaidLast && standing.status === "waiting") return true;
      else {
        // A chat that rests has to be able to answer once more.
        await this.#say("send");
        hasSaidLast = true;
      }
    }
    return false;
  }

  // ── what a person does ───────────────────────────────────────────────────

  async #change(change: keyof typeof CHANGES): Promise<void> {
    const { chatId } = this;
    switch (change) {
      case "send":
        return this.#say("send");
      case "send and interrupt":
        return this.#say("send", { whenBusy: "INTERRUPT" });
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

  /** Says something new with a key of its own, as often as it takes; sometimes once more for nothing. */
  async #say(command: "create" | "send", more: object = {}): Promise<void> {
    const text = this.#text();
    const entry = this.record.begin(command, { text });
    const isCreate = command === "create";
    const input = {
      parts: [{ text: { text } }],
      idempotencyKey: `${this.record.number}/${this.#said}`,
      ...(isCreate ? {} : { chatId: this.chatId }),
      ...more,
    };
    const name = isCreate ? "createChat" : "sendChatMessage";
    const fields = isCreate ? "chat { id status }" : "chat { id status } message { id } queuedMessage { id }";
    const ask = () => this.#ask(name, input, fields);
    for (let again = MAX_REPEATS; again > 0; again -= 1) {
      const payload = await ask();
      if (payload === null || payload.userErrors.some(({ code }) => code === "UNAVAILABLE")) {
        this.parts.tally.add("repeated requests", "because the answer was lost");
        await sleep(systemClock, REPEAT_AFTER_MS);
        continue;
      }
      const isInHistory = payload.message != null;
      this.#close(entry, payload, { queuedId: payload.queuedMessage?.id ?? null, isInHistory });
      if (payload.userErrors.length > 0) return;
      this.record.keys += 1;
      if (isCreate) this.record.chatId = payload.chat?.id ?? "";
      if (!this.#chance.percent(10)) return;
      this.parts.tally.add("repeated requests", "for nothing");
      const second = await ask();
      if (second && second.chat?.id !== payload.chat?.id)
        this.parts.complain(
          `A repeated request was answered otherwise: ${JSON.stringify([payload, second])}`,
        );
      return;
    }
    this.parts.complain(`No server answered: ${text}`);
  }

  #text(): string {
    this.#said += 1;
    return `${label(this.record.number, this.#said)}${" Please go on.".repeat(this.#chance.below(4))}`;
  }

  async #edit(): Promise<void> {
    const users = (await this.#read())?.messages.nodes.filter(({ role }) => role === "USER").slice(-4) ?? [];
    if (users.length === 0) return;
    const text = this.#text();
    const entry = this.record.begin("edit", { text });
    const input = { messageId: this.#chance.pick(users).id, parts: [{ text: { text } }] };
    this.#close(entry, await this.#ask("editChatMessage", input, "chat { id }"));
  }

  async #changeQueue(change: "promote" | "delete queued"): Promise<void> {
    const queue = (await this.#read())?.queuedMessages ?? [];
    if (queue.length === 0) return;
    const queuedMessageId = this.#chance.pick(queue).id;
    if (change === "promote") return this.#command("promote", "promoteQueuedMessage", { queuedMessageId });
    const entry = this.record.begin("delete queued", { queuedId: queuedMessageId });
    this.#close(entry, await this.#ask("deleteQueuedMessage", { queuedMessageId }, "deletedId"));
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

  async #waitForRest(patienceMs: number): Promise<void> {
    const { board } = this.parts;
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const wants = (it: { status: string }) =>
        isAtRest({ status: it.status as "waiting" }) || it.status === "requires_action";
      const standing = await board.until(this.chatId, wants, Math.max(0, deadline - Date.now()));
      if (isAtRest(standing)) return;
      if (standing.status === "requires_action" && this.#chance.percent(85))
        await this.#change("submit results");
      else if (standing.status === "requires_action") await this.#change("interrupt");
      else {
        this.parts.tally.add("people", "lost patience");
        await this.#change("interrupt");
        return;
      }
    }
  }

  // ── how it is asked ──────────────────────────────────────────────────────

  async #command(command: string, mutation: string, input: object): Promise<void> {
    const entry = this.record.begin(command);
    this.#close(entry, await this.#ask(mutation, input, "chat { id }"));
  }

  #close(entry: Entry, payload: Answered | null, more: Pick<Entry, "queuedId" | "isInHistory"> = {}): void {
    const codes = payload?.userErrors.map(({ code }) => code) ?? [];
    const outcome = payload === null ? "unknown" : codes.length > 0 ? "refused" : "done";
    this.parts.tally.add("commands", entry.command);
    if (outcome !== "done")
      this.parts.tally.add(`commands not done`, `${entry.command} ${codes.join() || outcome}`);
    this.record.end(entry, outcome, { ...more, ...(codes.length > 0 ? { codes } : {}) });
    const odd = codes.filter((code) => !EXPECTED_REFUSALS.includes(code));
    if (odd.length > 0)
      this.parts.complain(
        `${entry.command} of ${this.chatId} was refused: ${JSON.stringify(payload?.userErrors)}`,
      );
  }

  /** Null when no answer came. */
  async #ask(mutation: string, input: object, fields: string): Promise<Answered | null> {
    return this.#try((api) => api.change<Answered>(mutation, input, fields));
  }

  async #read() {
    return this.#try((api) => api.chat(this.chatId));
  }

  async #try<T>(work: (api: ApiClient) => Promise<T>): Promise<T | null> {
    try {
      return await work(this.parts.deployment.server(this.#chance));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.parts.tally.add("unanswered requests", text.slice(0, 120));
      // A server that is struck down answers nothing, or nothing whole, or that it shuts down; anything else is wrong.
      const isGone = error instanceof TypeError || error instanceof SyntaxError || isPassing(text);
      if (!isGone) this.parts.complain(`${this.chatId}: ${text}`);
      return null;
    }
  }
}

/** UNAVAILABLE: what was to be looked at before could not be, while the database was away. */
const EXPECTED_REFUSALS = ["CONFLICT", "NOT_FOUND", "LIMIT_EXCEEDED", "UNAVAILABLE"];
