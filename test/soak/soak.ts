// Soak test: months of use in minutes. Many simulated users with a chat each, a failing model vendor and crashing
// servers; then all faults stop, and every chat is checked.
import { isDeepStrictEqual } from "node:util";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { readList } from "../support/clients/list-follower.js";
import { MESSAGE_FIELDS, type Message } from "../support/clients/api-shapes.js";
import { ChatStatusPoller } from "./chat-status-poller.js";
import { Chance, type Tally } from "./chance.js";
import type { Deployment } from "./deployment.js";
import { violationsOf, type ChatRow, type ChatRows, type MessageRow, type QueuedRow } from "./invariants.js";
import { listDifferences, ListObserver } from "./list-observer.js";
import { ChatObserver } from "./chat-observer.js";
import { SimulatedUser } from "./simulated-user.js";
import type { Vendor } from "./vendor.js";

export type SoakSettings = {
  seed: number;
  chats: number;
  turns: number;
  /** Concurrently active users. */
  users: number;
  /** Mean time between two server faults; 0 = no faults. */
  meanPeaceMs: number;
  /** Number of times that Redis is stopped, spread over the run. */
  redisStops?: number;
  /** A user interrupts a turn that has not ended after this time. */
  patienceMs: number;
  /** Receives progress messages. */
  report(sentence: string): void;
};

/** A violated invariant; `evidence` is everything known about the chat. */
export type Violation = { sentence: string; evidence?: string };

/** Chats that have not settled this long after the faults stopped are stuck. */
const SETTLE_LIMIT_MS = 120_000;
/** Subscribers at another replica may learn of a change only by the sweep every 10 s. */
const FOLLOW_LIMIT_MS = 45_000;
/** Chat list subscribers during the whole run. */
const LIST_OBSERVERS = 3;
const PROGRESS_EVERY_MS = 5_000;
/** Violations that are printed with their evidence. */
const MAX_EVIDENCE = 5;

export async function runSoak(
  deployment: Deployment,
  { vendor, tally }: { vendor: Vendor; tally: Tally },
  settings: SoakSettings,
): Promise<Violation[]> {
  const soak = new Soak(deployment, tally, settings);
  await soak.live();
  vendor.isCalm = true;
  await soak.settle();
  await soak.close();
  const explained = deployment.explainedRepeats();
  tally.add("repeated model calls", "counted by the vendor", vendor.repeats);
  if (explained === null) return soak.violations;
  tally.add("repeated model calls", "explained by the servers", explained);
  const sentence = `Model calls were repeated ${vendor.repeats} times, for ${explained} lost or failed attempts.`;
  return vendor.repeats > explained ? [...soak.violations, { sentence }] : soak.violations;
}

class Soak {
  readonly violations: Violation[] = [];
  readonly #poller: ChatStatusPoller;
  readonly #users: SimulatedUser[] = [];
  readonly #observers = new Map<string, ChatObserver>();
  readonly #listObservers: ListObserver[];
  #turns = 0;

  constructor(
    private readonly deployment: Deployment,
    private readonly tally: Tally,
    private readonly settings: SoakSettings,
  ) {
    this.#poller = new ChatStatusPoller(deployment);
    const dependencies = { deployment, tally, seed: settings.seed };
    this.#listObservers = Array.from(
      { length: deployment.hasListEvents ? LIST_OBSERVERS : 0 },
      (_, number) => new ListObserver(dependencies, number),
    );
  }

  readonly #addViolation = (sentence: string, evidence?: string): void => {
    this.violations.push({ sentence, ...(evidence === undefined ? {} : { evidence }) });
  };

  // ── with faults ──────────────────────────────────────────────────────────

  async live(): Promise<void> {
    const { settings } = this;
    const over = new AbortController();
    const striking = this.#strike(over.signal);
    const stopping = this.#stopRedis(over.signal);
    const reporting = this.#reportProgress(over.signal);
    const waiting = Array.from({ length: settings.chats }, (_, number) => number);
    const work = async () => {
      for (let number = waiting.shift(); number !== undefined; number = waiting.shift())
        await this.#simulate(number);
    };
    await Promise.all(Array.from({ length: settings.users }, work));
    over.abort();
    await Promise.all([striking, stopping, reporting]);
  }

  async #simulate(number: number): Promise<void> {
    const { deployment, tally, settings } = this;
    const { seed, patienceMs } = settings;
    const common = { deployment, tally, seed, onViolation: this.#addViolation };
    const user = new SimulatedUser({ ...common, poller: this.#poller, patienceMs }, number);
    await user.begin();
    if (user.chatId === "") return this.#addViolation(`Chat ${number} could not be created.`);
    this.#users.push(user);
    this.#observers.set(user.chatId, new ChatObserver(common, user.chatId, number));
    for (let turn = 0; turn < settings.turns; turn += 1) {
      await user.takeTurn();
      this.#turns += 1;
    }
  }

  async #strike(over: AbortSignal): Promise<void> {
    const { seed, meanPeaceMs } = this.settings;
    const chance = Chance.of(seed, "strikes");
    while (meanPeaceMs > 0) {
      await sleep(systemClock, meanPeaceMs / 2 + chance.below(meanPeaceMs), over);
      if (over.aborted) return;
      this.tally.add("strikes", await this.deployment.strike(chance));
    }
  }

  /** Stops Redis at even shares of the turns; a stop that has begun is always completed. */
  async #stopRedis(over: AbortSignal): Promise<void> {
    const { redisStops = 0, chats, turns, report } = this.settings;
    for (let stop = 1; stop <= redisStops; stop += 1) {
      const due = (chats * turns * stop) / (redisStops + 1);
      while (this.#turns < due && !over.aborted) await this.#poller.fresh();
      report(`Redis is stopped, ${stop} of ${redisStops}`);
      await this.deployment.stopRedis();
      report("Redis is back");
      this.tally.add("Redis stops", "on purpose");
    }
  }

  async #reportProgress(over: AbortSignal): Promise<void> {
    const { chats, turns, report } = this.settings;
    for (;;) {
      await sleep(systemClock, PROGRESS_EVERY_MS, over);
      if (over.aborted) return;
      const busy = this.#poller
        .all()
        .filter(({ status }) => status !== "waiting" && status !== "error").length;
      const strikes = this.tally.count("strikes");
      report(`${this.#turns} of ${chats * turns} turns, ${busy} busy chats, ${strikes} server faults`);
    }
  }

  // ── without faults ───────────────────────────────────────────────────────

  async settle(): Promise<void> {
    this.settings.report("faults stopped; waiting for every chat to settle");
    await this.deployment.calm();
    for (const observer of this.#observers.values()) observer.isSteady = true;
    const settled = await Promise.all(this.#users.map((user) => user.settle(SETTLE_LIMIT_MS)));
    settled.forEach((isSettled, index) => {
      const user = this.#users[index];
      if (!isSettled && user) this.#addViolation(`Chat ${user.chatId} never settled.`);
    });
    this.settings.report("settled; comparing what observers saw with the database");
    await Promise.all(this.#users.map((user) => this.#checkChat(user)));
    await Promise.all(this.#listObservers.map((observer, number) => this.#checkList(observer, number)));
    await this.#checkDeployment();
    await this.#count();
  }

  async close(): Promise<void> {
    const observers = [...this.#observers.values(), ...this.#listObservers];
    await Promise.all(observers.map((observer) => observer.close()));
    await this.#poller.close();
  }

  async #checkChat(user: SimulatedUser): Promise<void> {
    const observer = this.#observers.get(user.chatId);
    const shown = await this.#fetch(user);
    const seen = observer ? await this.#untilSeen(observer, shown) : [];
    const rows = await this.#rows(user.chatId);
    const violations = [
      ...violationsOf(rows, user.record.entries),
      ...seen,
      ...(observer?.transcript.breaches ?? []),
      ...(observer?.transcript.once.repeats ?? []),
    ];
    if (violations.length === 0) return;
    const isShown = this.violations.filter(({ evidence }) => evidence !== undefined).length < MAX_EVIDENCE;
    const evidence = isShown ? evidenceOf(rows, user, observer) : undefined;
    this.#addViolation(`Chat ${user.record.number} (${user.chatId}): ${violations.join("; ")}`, evidence);
  }

  /** The observer's list must become equal to the API's within a time limit. */
  async #checkList(observer: ListObserver, number: number): Promise<void> {
    const api = this.deployment.server(Chance.of(this.settings.seed, "judge of lists", number));
    const deadline = Date.now() + FOLLOW_LIMIT_MS;
    for (;;) {
      const differences = listDifferences(observer.rows, await readList(api));
      if (differences.length === 0) return;
      if (Date.now() > deadline)
        return this.#addViolation(`List observer ${number}: ${differences.slice(0, 10).join("; ")}`);
      await this.#poller.fresh();
    }
  }

  /** The chat as the API returns it, with all its messages. */
  async #fetch(user: SimulatedUser): Promise<Shown> {
    const api = this.deployment.server(Chance.of(this.settings.seed, "judge", user.record.number));
    const messages: Message[] = [];
    for (let after: string | null = null; ;) {
      const page: Page = await api.get<Page>(PAGE, { chatId: user.chatId, after });
      messages.push(...page.chat.messages.nodes);
      after = page.chat.messages.pageInfo.endCursor;
      if (page.chat.messages.pageInfo.hasNextPage) continue;
      const queue = page.chat.queuedMessages.map(({ parts }) => parts[0]?.text ?? "");
      return { status: page.chat.status, queue, messages };
    }
  }

  /** The observer's state must become equal to the API's within a time limit; returns the remaining differences. */
  async #untilSeen(observer: ChatObserver, shown: Shown): Promise<string[]> {
    const deadline = Date.now() + FOLLOW_LIMIT_MS;
    for (;;) {
      const differences = differencesOf(observer, shown);
      if (differences.length === 0 || Date.now() > deadline) return differences;
      await this.#poller.fresh();
    }
  }

  async #rows(chatId: string): Promise<ChatRows> {
    const id = chatId.replace("chat_", "");
    const [chat] = await this.deployment.query<ChatRow>(CHAT_ROW, [id]);
    if (!chat) throw new Error(`chat ${chatId} not found in the database`);
    const messages = await this.deployment.query<MessageRow>(MESSAGE_ROWS, [id]);
    return { chat, messages, queue: await this.deployment.query<QueuedRow>(QUEUED_ROWS, [id]) };
  }

  async #checkDeployment(): Promise<void> {
    const { deployment } = this;
    const [found] = await deployment.query<{ leases: number; keys: number; unknown: number }>(
      `SELECT
      (SELECT count(*)::int FROM worker_leases WHERE expires_at > now()) AS leases,
      (SELECT count(*)::int FROM idempotency_keys) AS keys,
      (SELECT count(*)::int FROM chats) - $1::int AS unknown`,
      [this.#users.length],
    );
    const keys = this.#users.reduce((sum, { record }) => sum + record.keys, 0);
    if (found?.leases !== deployment.livingWorkers())
      this.#addViolation(`There are ${found?.leases} live leases for ${deployment.livingWorkers()} workers.`);
    if (found?.keys !== keys)
      this.#addViolation(
        `There are ${found?.keys} idempotency keys, but ${keys} requests with one were made.`,
      );
    if (found?.unknown !== 0)
      this.#addViolation(`There are ${found?.unknown} chats that no user has created.`);
    for (const sentence of deployment.complaints()) this.#addViolation(sentence);
  }

  async #count(): Promise<void> {
    const counted = await this.deployment.query<{ name: string; times: number }>(COUNTS);
    for (const { name, times } of counted) this.tally.add("rows", name, times);
    for (const { transcript } of this.#observers.values()) {
      this.tally.add("events", "previews identical to their message", transcript.confirmedPreviews);
      this.tally.add("events applied", "once", transcript.once.applied);
      this.tally.add("events applied", "twice", transcript.once.repeats.length);
    }
    this.tally.add("turns", "taken", this.#turns);
  }
}

type Shown = { status: string; queue: string[]; messages: Message[] };
type Page = {
  chat: {
    status: string;
    queuedMessages: { parts: { text: string }[] }[];
    messages: { nodes: Message[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
  };
};

const PAGE = `query ($chatId: ID!, $after: String) { chat(id: $chatId) { status
  queuedMessages { parts { ... on TextPart { text } } }
  messages(first: 50, after: $after) { nodes { ${MESSAGE_FIELDS} } pageInfo { hasNextPage endCursor } } } }`;
/** A refresh returns so many messages, so that an observer may not have earlier ones. */
const MESSAGES_OF_A_REFRESH = 100;

function differencesOf({ transcript }: ChatObserver, { status, queue, messages }: Shown): string[] {
  const seen = transcript.messages;
  const isLongEnough = seen.length >= Math.min(messages.length, MESSAGES_OF_A_REFRESH);
  const expected = messages.slice(-Math.max(1, seen.length));
  const index = seen.findIndex((message, at) => !isDeepStrictEqual(message, expected[at]));
  const differences: string[] = [];
  if (!isLongEnough || seen.length > messages.length)
    differences.push(`the observer has ${seen.length} of ${messages.length} messages`);
  else if (index >= 0)
    differences.push(
      `the observer has ${JSON.stringify(seen[index])} where the API returns ${JSON.stringify(expected[index])}`,
    );
  if (transcript.status !== status)
    differences.push(`the observer has status ${transcript.status}, the API ${status}`);
  if (!isDeepStrictEqual(transcript.queue, queue))
    differences.push(
      `the observer has queue ${JSON.stringify(transcript.queue)}, the API ${JSON.stringify(queue)}`,
    );
  if (transcript.preview)
    differences.push(`the observer still has a preview of ${transcript.preview.generation}`);
  return differences;
}

function evidenceOf(
  { chat, messages, queue }: ChatRows,
  user: SimulatedUser,
  observer: ChatObserver | undefined,
): string {
  return [
    `chat ${JSON.stringify(chat)}`,
    ...messages.map((message) => `message ${JSON.stringify(message)}`),
    ...queue.map((queued) => `queued ${JSON.stringify(queued)}`),
    ...user.record.entries.map((entry) => `command ${JSON.stringify(entry)}`),
    `observer's events: ${observer?.eventLog.join(" | ")}`,
    `last payloads: ${observer?.transcript.log.slice(-60).join(" | ")}`,
  ].join("\n");
}

const CHAT_ROW = `SELECT id, status, archived_at, worker_id, runner_id, retry_state, last_error, action_deadline_at,
  compaction_requested_at, open_calls, queued_ids::text[] AS queued_ids, snapshot_version::int, history_version::int,
  reset_version::int, queue_version::int, status_version::int, retry_version::int, title_version::int,
  diff_version::int
  FROM chats WHERE id = $1`;
const MESSAGE_ROWS = `SELECT id::int, role, visibility, content, author_id, revision::int, generation, is_summary, is_deleted
  FROM chat_messages WHERE chat_id = $1 ORDER BY chat_messages.id`;
const QUEUED_ROWS = `SELECT id, content FROM chat_queued_messages WHERE chat_id = $1 ORDER BY id`;
const COUNTS = `
  SELECT 'messages' AS name, count(*)::int AS times FROM chat_messages
  UNION ALL SELECT 'user messages', count(*)::int FROM chat_messages WHERE author_id IS NOT NULL
  UNION ALL SELECT 'deleted by edits', count(*)::int FROM chat_messages WHERE is_deleted
  UNION ALL SELECT 'summaries', count(*)::int FROM chat_messages WHERE is_summary AND visibility = 'model'
    AND content::text LIKE '%was folded%'
  UNION ALL SELECT 'cleared contexts', count(*)::int FROM chat_messages WHERE is_summary AND visibility = 'model'
    AND content::text LIKE '%has cleared%'
  UNION ALL SELECT 'tool calls', count(*)::int FROM chat_messages, jsonb_array_elements(content) AS part
    WHERE part->>'type' = 'tool-call'
  UNION ALL SELECT 'archived chats', count(*)::int FROM chats WHERE archived_at IS NOT NULL
  UNION ALL SELECT 'snapshots', sum(snapshot_version)::int FROM chats`;
