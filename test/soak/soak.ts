// Months of use in minutes: many people with a chat each, a vendor that fails, servers that are struck down; then
// calm, and a look at every chat.
import { isDeepStrictEqual } from "node:util";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { readList } from "../support/clients/list-follower.js";
import { MESSAGE_FIELDS, type Message } from "../support/clients/api-shapes.js";
import { Board } from "./board.js";
import { Chance, type Tally } from "./chance.js";
import type { Deployment } from "./deployment.js";
import { breachesOf, type ChatRow, type ChatRows, type MessageRow, type QueuedRow } from "./laws.js";
import { listDifferences, ListOnlooker } from "./list-onlooker.js";
import { Onlooker } from "./onlooker.js";
import { Person } from "./person.js";
import type { Vendor } from "./vendor.js";

export type SoakSettings = {
  seed: number;
  chats: number;
  turns: number;
  /** People at work at the same time. */
  people: number;
  /** Calm between two strikes, on average; 0 = no strikes. */
  meanPeaceMs: number;
  /** So often Redis is stopped, spread over the run. */
  redisStops?: number;
  /** After so long without an end a person stops a turn. */
  patienceMs: number;
  /** Hears how far it is. */
  tell(sentence: string): void;
};

/** Something that must not be; `evidence` is everything that is known of the chat. */
export type Violation = { sentence: string; evidence?: string };

/** All chats are at rest this long after the calm began, or something is stuck. */
const SETTLE_LIMIT_MS = 120_000;
/** Followers of another replica hear of news by a sweep each 10 s. */
const FOLLOW_LIMIT_MS = 45_000;
/** Sidebars that are open from the beginning to the end. */
const LIST_ONLOOKERS = 3;
const PROGRESS_EVERY_MS = 5_000;
/** Chats that are shown whole when something is wrong with them. */
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
  tally.add("model calls made again", "by the vendor's count", vendor.repeats);
  if (explained === null) return soak.violations;
  tally.add("model calls made again", "explained by the servers", explained);
  // The lost attempt's own call and one more.
  const sentence = `The model was asked again ${vendor.repeats} times for ${explained} lost or failed attempts.`;
  return vendor.repeats > explained ? [...soak.violations, { sentence }] : soak.violations;
}

class Soak {
  readonly violations: Violation[] = [];
  readonly #board: Board;
  readonly #people: Person[] = [];
  readonly #onlookers = new Map<string, Onlooker>();
  readonly #listOnlookers: ListOnlooker[];
  #turns = 0;

  constructor(
    private readonly deployment: Deployment,
    private readonly tally: Tally,
    private readonly settings: SoakSettings,
  ) {
    this.#board = new Board(deployment);
    const parts = { deployment, tally, seed: settings.seed };
    this.#listOnlookers = Array.from(
      { length: deployment.tellsLists ? LIST_ONLOOKERS : 0 },
      (_, number) => new ListOnlooker(parts, number),
    );
  }

  readonly #complain = (sentence: string, evidence?: string): void => {
    this.violations.push({ sentence, ...(evidence === undefined ? {} : { evidence }) });
  };

  // ── the months ───────────────────────────────────────────────────────────

  async live(): Promise<void> {
    const { settings } = this;
    const over = new AbortController();
    const striking = this.#strike(over.signal);
    const stopping = this.#stopRedis(over.signal);
    const telling = this.#tellProgress(over.signal);
    const waiting = Array.from({ length: settings.chats }, (_, number) => number);
    const work = async () => {
      for (let number = waiting.shift(); number !== undefined; number = waiting.shift())
        await this.#liveOne(number);
    };
    await Promise.all(Array.from({ length: settings.people }, work));
    over.abort();
    await Promise.all([striking, stopping, telling]);
  }

  async #liveOne(number: number): Promise<void> {
    const { deployment, tally, settings } = this;
    const { seed, patienceMs } = settings;
    const common = { deployment, tally, seed, complain: this.#complain };
    const person = new Person({ ...common, board: this.#board, patienceMs }, number);
    await person.begin();
    if (person.chatId === "") return this.#complain(`Chat ${number} could not be made.`);
    this.#people.push(person);
    this.#onlookers.set(person.chatId, new Onlooker(common, person.chatId, number));
    for (let turn = 0; turn < settings.turns; turn += 1) {
      await person.takeTurn();
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

  /** Each stop is due when its share of the turns has been taken, and comes to its end whatever happens. */
  async #stopRedis(over: AbortSignal): Promise<void> {
    const { redisStops = 0, chats, turns, tell } = this.settings;
    for (let stop = 1; stop <= redisStops; stop += 1) {
      const due = (chats * turns * stop) / (redisStops + 1);
      while (this.#turns < due && !over.aborted) await this.#board.fresh();
      tell(`Redis is stopped, ${stop} of ${redisStops}`);
      await this.deployment.stopRedis();
      tell("Redis is back");
      this.tally.add("Redis stops", "on purpose");
    }
  }

  async #tellProgress(over: AbortSignal): Promise<void> {
    const { chats, turns, tell } = this.settings;
    for (;;) {
      await sleep(systemClock, PROGRESS_EVERY_MS, over);
      if (over.aborted) return;
      const busy = this.#board
        .all()
        .filter(({ status }) => status !== "waiting" && status !== "error").length;
      const strikes = this.tally.count("strikes");
      tell(`${this.#turns} of ${chats * turns} turns, ${busy} chats at work, ${strikes} strikes`);
    }
  }

  // ── the calm ─────────────────────────────────────────────────────────────

  async settle(): Promise<void> {
    this.settings.tell("calm; waiting for every chat to rest");
    await this.deployment.calm();
    for (const onlooker of this.#onlookers.values()) onlooker.isSteady = true;
    const settled = await Promise.all(this.#people.map((person) => person.settle(SETTLE_LIMIT_MS)));
    settled.forEach((isSettled, index) => {
      const person = this.#people[index];
      if (!isSettled && person) this.#complain(`Chat ${person.chatId} never came to rest.`);
    });
    this.settings.tell("at rest; comparing what everybody saw with the database");
    await Promise.all(this.#people.map((person) => this.#judge(person)));
    await Promise.all(this.#listOnlookers.map((onlooker, number) => this.#judgeList(onlooker, number)));
    await this.#judgeDeployment();
    await this.#count();
  }

  async close(): Promise<void> {
    const onlookers = [...this.#onlookers.values(), ...this.#listOnlookers];
    await Promise.all(onlookers.map((onlooker) => onlooker.close()));
    await this.#board.close();
  }

  async #judge(person: Person): Promise<void> {
    const onlooker = this.#onlookers.get(person.chatId);
    const shown = await this.#shown(person);
    const seen = onlooker ? await this.#untilSeen(onlooker, shown) : [];
    const rows = await this.#rows(person.chatId);
    const breaches = [
      ...breachesOf(rows, person.record.entries),
      ...seen,
      ...(onlooker?.transcript.breaches ?? []),
      ...(onlooker?.transcript.once.doubles ?? []),
    ];
    if (breaches.length === 0) return;
    const isShown = this.violations.filter(({ evidence }) => evidence !== undefined).length < MAX_EVIDENCE;
    const evidence = isShown ? evidenceOf(rows, person, onlooker) : undefined;
    this.#complain(`Chat ${person.record.number} (${person.chatId}): ${breaches.join("; ")}`, evidence);
  }

  /** What the sidebar holds becomes what the API shows, before long. */
  async #judgeList(onlooker: ListOnlooker, number: number): Promise<void> {
    const api = this.deployment.server(Chance.of(this.settings.seed, "judge of lists", number));
    const deadline = Date.now() + FOLLOW_LIMIT_MS;
    for (;;) {
      const differences = listDifferences(onlooker.rows, await readList(api));
      if (differences.length === 0) return;
      if (Date.now() > deadline)
        return this.#complain(`List onlooker ${number}: ${differences.slice(0, 10).join("; ")}`);
      await this.#board.fresh();
    }
  }

  /** The chat as the API shows it, with all its messages. */
  async #shown(person: Person): Promise<Shown> {
    const api = this.deployment.server(Chance.of(this.settings.seed, "judge", person.record.number));
    const messages: Message[] = [];
    for (let after: string | null = null; ;) {
      const page: Page = await api.get<Page>(PAGE, { chatId: person.chatId, after });
      messages.push(...page.chat.messages.nodes);
      after = page.chat.messages.pageInfo.endCursor;
      if (page.chat.messages.pageInfo.hasNextPage) continue;
      const queue = page.chat.queuedMessages.map(({ parts }) => parts[0]?.text ?? "");
      return { status: page.chat.status, queue, messages };
    }
  }

  /** What the onlooker holds becomes what the API shows, before long. */
  async #untilSeen(onlooker: Onlooker, shown: Shown): Promise<string[]> {
    const deadline = Date.now() + FOLLOW_LIMIT_MS;
    for (;;) {
      const differences = differencesOf(onlooker, shown);
      if (differences.length === 0 || Date.now() > deadline) return differences;
      await this.#board.fresh();
    }
  }

  async #rows(chatId: string): Promise<ChatRows> {
    const id = chatId.replace("chat_", "");
    const [chat] = await this.deployment.query<ChatRow>(CHAT_ROW, [id]);
    if (!chat) throw new Error(`There is no chat ${chatId} in the database.`);
    const messages = await this.deployment.query<MessageRow>(MESSAGE_ROWS, [id]);
    return { chat, messages, queue: await this.deployment.query<QueuedRow>(QUEUED_ROWS, [id]) };
  }

  async #judgeDeployment(): Promise<void> {
    const { deployment } = this;
    const [found] = await deployment.query<{ leases: number; keys: number; strangers: number }>(
      `SELECT
      (SELECT count(*)::int FROM worker_leases WHERE expires_at > now()) AS leases,
      (SELECT count(*)::int FROM idempotency_keys) AS keys,
      (SELECT count(*)::int FROM chats) - $1::int AS strangers`,
      [this.#people.length],
    );
    const keys = this.#people.reduce((sum, { record }) => sum + record.keys, 0);
    if (found?.leases !== deployment.livingWorkers())
      this.#complain(`There are ${found?.leases} living leases for ${deployment.livingWorkers()} workers.`);
    if (found?.keys !== keys)
      this.#complain(`There are ${found?.keys} remembered requests, but ${keys} were made.`);
    if (found?.strangers !== 0) this.#complain(`There are ${found?.strangers} chats that nobody knows of.`);
    for (const complaint of deployment.complaints()) this.#complain(complaint);
  }

  async #count(): Promise<void> {
    const counted = await this.deployment.query<{ name: string; times: number }>(COUNTS);
    for (const { name, times } of counted) this.tally.add("rows", name, times);
    for (const { transcript } of this.#onlookers.values()) {
      this.tally.add("events", "previews that were exactly their message", transcript.confirmedPreviews);
      this.tally.add("events applied", "once", transcript.once.applied);
      this.tally.add("events applied", "twice", transcript.once.doubles.length);
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
/** A refresh brings so many messages, so an onlooker may hold no more of what was before. */
const MESSAGES_OF_A_REFRESH = 100;

function differencesOf({ transcript }: Onlooker, { status, queue, messages }: Shown): string[] {
  const held = transcript.messages;
  const isLongEnough = held.length >= Math.min(messages.length, MESSAGES_OF_A_REFRESH);
  const expected = messages.slice(-Math.max(1, held.length));
  const place = held.findIndex((message, index) => !isDeepStrictEqual(message, expected[index]));
  const differences: string[] = [];
  if (!isLongEnough || held.length > messages.length)
    differences.push(`the onlooker holds ${held.length} of ${messages.length} messages`);
  else if (place >= 0)
    differences.push(
      `the onlooker saw ${JSON.stringify(held[place])} where the API shows ${JSON.stringify(expected[place])}`,
    );
  if (transcript.status !== status)
    differences.push(`the onlooker saw it ${transcript.status}, the API ${status}`);
  if (!isDeepStrictEqual(transcript.queue, queue))
    differences.push(
      `the onlooker saw the queue ${JSON.stringify(transcript.queue)}, the API ${JSON.stringify(queue)}`,
    );
  if (transcript.preview)
    differences.push(`the onlooker still sees ${transcript.preview.generation} being written`);
  return differences;
}

function evidenceOf(
  { chat, messages, queue }: ChatRows,
  person: Person,
  onlooker: Onlooker | undefined,
): string {
  return [
    `chat ${JSON.stringify(chat)}`,
    ...messages.map((message) => `message ${JSON.stringify(message)}`),
    ...queue.map((queued) => `queued ${JSON.stringify(queued)}`),
    ...person.record.entries.map((entry) => `command ${JSON.stringify(entry)}`),
    `the onlooker's story: ${onlooker?.story.join(" | ")}`,
    `its last events: ${onlooker?.transcript.log.slice(-60).join(" | ")}`,
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
  UNION ALL SELECT 'said by people', count(*)::int FROM chat_messages WHERE author_id IS NOT NULL
  UNION ALL SELECT 'taken away by edits', count(*)::int FROM chat_messages WHERE is_deleted
  UNION ALL SELECT 'summaries', count(*)::int FROM chat_messages WHERE is_summary AND visibility = 'model'
    AND content::text LIKE '%was folded%'
  UNION ALL SELECT 'cleared contexts', count(*)::int FROM chat_messages WHERE is_summary AND visibility = 'model'
    AND content::text LIKE '%has cleared%'
  UNION ALL SELECT 'tool calls', count(*)::int FROM chat_messages, jsonb_array_elements(content) AS part
    WHERE part->>'type' = 'tool-call'
  UNION ALL SELECT 'chats in the archive', count(*)::int FROM chats WHERE archived_at IS NOT NULL
  UNION ALL SELECT 'snapshots', sum(snapshot_version)::int FROM chats`;
