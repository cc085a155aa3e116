/**
 * Regular members during an attack: each reads every second, follows a chat and sends a message in it every few seconds,
 * and now and then opens a second socket. Records latencies and failures.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { textOf } from "./chat.js";
import { type ParleyAddress, startParleyChat } from "./parley-chat.js";

export type Seen = {
  /** Queries and mutations over HTTP, in milliseconds. */
  requests: number[];
  /** From a message's sending to the first event of its turn. */
  answers: number[];
  /** From the first byte of a new socket to its acknowledgement. */
  greetings: number[];
  /** Followers' sockets that were cut. */
  lostSockets: number;
  /** Requests, greetings and turns that failed or took longer than the limit, by what was wrong. */
  failures: Map<string, number>;
};

const FOLLOW =
  "subscription($id: ID!) { chatEvents(chatId: $id) { __typename ... on ChatStatusEvent { status } } }";
const READS = [
  "query($id: ID!) { chat(id: $id) { id title status } }",
  "query { chats(first: 10) { nodes { id title status } } }",
  "query($id: ID!) { chat(id: $id) { messages(last: 10) { nodes { id role } } } }",
];
const SEND =
  "mutation($id: ID!, $text: String!) { sendChatMessage(input: { chatId: $id, parts: [{ text: { text: $text } }] }) { userErrors { message } } }";

const PACE_MS = 1_000;
/** A message, or a new socket, once in so many steps. */
const STEPS_PER_MESSAGE = 5;
/** Longer operations count with this value, and as a failure. */
const LIMIT_MS = 30_000;
const ANSWER = { deltas: 10, delayMs: 20 };

export class Members {
  readonly seen: Seen = { requests: [], answers: [], greetings: [], lostSockets: 0, failures: new Map() };
  #isOver = false;
  readonly #sockets = new Set<WebSocket>();
  #lives: Promise<void>[] = [];

  /** Resolves when each member follows a chat; they work from then on. */
  async begin(addresses: readonly ParleyAddress[]): Promise<void> {
    const chats: string[] = [];
    for (const address of addresses) chats.push(await startParleyChat(address, ANSWER));
    const members = addresses.map((address, index) => ({
      address,
      chatId: chats[index] ?? "",
      index,
      onEvent: () => undefined as void,
    }));
    for (const member of members) this.#follow(member);
    this.#lives = members.map((member) => this.#live(member));
  }

  /** Discards everything recorded before. */
  forget(): void {
    Object.assign(this.seen, {
      requests: [],
      answers: [],
      greetings: [],
      lostSockets: 0,
      failures: new Map(),
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.terminate();
    await Promise.all(this.#lives);
  }

  async #live(member: Member): Promise<void> {
    await sleep((member.index * PACE_MS) / 20);
    for (let step = member.index; !this.#isOver; step += 1) {
      const startedAt = performance.now();
      if (step % STEPS_PER_MESSAGE === 0) await this.#say(member);
      else if (step % STEPS_PER_MESSAGE === 1) await this.#timed("greetings", () => this.#greet(member));
      else
        await this.#timed("requests", () =>
          ask(member.address, READS[step % READS.length] ?? "", { id: member.chatId }),
        );
      await sleep(Math.max(0, PACE_MS - (performance.now() - startedAt)));
    }
  }

  async #say(member: Member): Promise<void> {
    await this.#timed("answers", async () => {
      const answered = new Promise<void>((resolve) => (member.onEvent = resolve));
      const variables = { id: member.chatId, text: textOf(ANSWER) };
      await this.#timed("requests", () => ask(member.address, SEND, variables));
      await answered;
    });
  }

  async #timed(kind: "requests" | "answers" | "greetings", work: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    const limit = new AbortController();
    try {
      const tooLate = sleep(LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
        throw new Error("took too long");
      });
      tooLate.catch(() => undefined);
      await Promise.race([work(), tooLate]);
    } catch (failure) {
      if (this.#isOver) return;
      const what = `${kind}: ${failure instanceof Error ? failure.message : String(failure)}`;
      this.seen.failures.set(what, (this.seen.failures.get(what) ?? 0) + 1);
    } finally {
      limit.abort();
    }
    if (!this.#isOver) this.seen[kind].push(performance.now() - startedAt);
  }

  /** A socket of its own, from nothing to its acknowledgement. */
  #greet({ address }: Member): Promise<void> {
    const socket = open(address);
    return new Promise<void>((resolve, reject) => {
      socket.once("message", () => resolve());
      socket.once("error", reject);
      socket.once("close", (code) => reject(new Error(`closed with ${code}`)));
    }).finally(() => socket.terminate());
  }

  #follow(member: Member): void {
    if (this.#isOver) return;
    const socket = open(member.address);
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("message", () => {
      const payload = { query: FOLLOW, variables: { id: member.chatId } };
      socket.send(JSON.stringify({ id: "1", type: "subscribe", payload }));
      socket.on("message", () => member.onEvent());
    });
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.#isOver) return;
      this.seen.lostSockets += 1;
      void sleep(PACE_MS).then(() => this.#follow(member));
    });
  }
}

type Member = { address: ParleyAddress; chatId: string; index: number; onEvent: () => void };

function open({ url, token }: ParleyAddress): WebSocket {
  const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
  socket.once("open", () => socket.send(JSON.stringify({ type: "connection_init", payload: { token } })));
  return socket;
}

async function ask({ url, token }: ParleyAddress, query: string, variables: object): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const { errors } = (await response.json()) as { errors?: { message: string }[] };
  if (errors) throw new Error(errors[0]?.message ?? `status ${response.status}`);
}
