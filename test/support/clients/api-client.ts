// API client of one user: operations over HTTP, and chats followed over a socket that can be cut.
import { type Client, createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { CHAT_FIELDS, type ChatShown, type Payload, type SendPayload, USER_ERRORS } from "./api-shapes.js";
import { type ChatEvent, CHAT_EVENTS_DOCUMENT, Transcript } from "./transcript.js";

export type ApiError = { message: string; path?: unknown; extensions: { code: string } };
export type Answer<T> = { status: number; data: T | null; errors: ApiError[] };

/** Client of one server with one token. */
export class ApiClient {
  constructor(
    /** Without a path. */
    readonly url: string,
    /** Null: unauthenticated. */
    readonly token: string | null,
  ) {}

  /** Executes one operation over HTTP; errors are returned. */
  async ask<T = Record<string, unknown>>(query: string, variables: object = {}): Promise<Answer<T>> {
    const response = await fetch(`${this.url}/graphql`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    const body = (await response.json()) as { data?: T | null; errors?: ApiError[] };
    return { status: response.status, data: body.data ?? null, errors: body.errors ?? [] };
  }

  /** Like `ask`, but throws when the operation fails. */
  async get<T = Record<string, unknown>>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await this.ask<T>(query, variables);
    if (errors.length > 0 || data === null)
      throw new Error(`The operation failed: ${JSON.stringify(errors)}`);
    return data;
  }

  /** Executes one mutation with an input of type `<Name>Input`; returns its payload. */
  async change<T = Payload>(name: string, input: object, fields: string): Promise<T> {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { result: ${name}(input: $input) { ${fields} ${USER_ERRORS} } }`;
    return (await this.get<{ result: T }>(query, { input })).result;
  }

  /** Creates a chat with one text; returns its id. */
  async createChat(text: string, more: object = {}): Promise<string> {
    const input = { parts: [{ text: { text } }], ...more };
    const { chat, userErrors } = await this.change("createChat", input, "chat { id }");
    if (!chat) throw new Error(`No chat was made: ${JSON.stringify(userErrors)}`);
    return chat.id;
  }

  send(chatId: string, text: string, more: object = {}): Promise<SendPayload> {
    const fields = `chat { id status } message { id } eventCursor queuedMessage { id }`;
    return this.change("sendChatMessage", { chatId, parts: [{ text: { text } }], ...more }, fields);
  }

  /** A chat as a page shows it; null when it does not exist for this viewer. */
  async chat(chatId: string): Promise<ChatShown | null> {
    const query = `query ($chatId: ID!) { chat(id: $chatId) { ${CHAT_FIELDS} } }`;
    return (await this.get<{ chat: ChatShown | null }>(query, { chatId })).chat;
  }

  /** Follows the chat from a snapshot, which may be newer than the first events after it. */
  follow(chatId: string, after: string | null = null): Follower {
    return new Follower(this, chatId, new Transcript(after));
  }

  /** Reads the chat and follows it from exactly there; resolves once caught up. */
  async followFromNow(chatId: string): Promise<Follower> {
    const chat = await this.chat(chatId);
    if (!chat) throw new Error("There is no such chat.");
    const follower = new Follower(this, chatId, Transcript.from(chat));
    await follower.until(({ isCaughtUp }) => isCaughtUp);
    return follower;
  }

  /** Creates a chat, waits until it is idle, and follows it from then on. */
  async quietChat(more: object = {}): Promise<{ chatId: string; follower: Follower }> {
    const chatId = await this.createChat("[[demo: deltas=1]]", more);
    const first = this.follow(chatId);
    await first.untilStatus("WAITING");
    await first.close();
    return { chatId, follower: await this.followFromNow(chatId) };
  }
}

type Waiter = { isSo: () => boolean; resolve: () => void; reject: (reason: unknown) => void };

/** A subscription to one chat that folds its events into a transcript; the transcript outlives the connection. */
export class Follower {
  readonly #client: Client;
  readonly #sockets = new Set<WebSocket>();
  #waiters: Waiter[] = [];
  #end: { reason: unknown } | null = null;
  /** Resolves when the subscription ends, to the errors, close event or reason. */
  readonly ended: Promise<unknown>;

  constructor(
    readonly api: ApiClient,
    readonly chatId: string,
    readonly transcript: Transcript,
  ) {
    const sockets = this.#sockets;
    class WatchedSocket extends WebSocket {
      constructor(address: string, protocols?: string | string[]) {
        super(address, protocols);
        sockets.add(this);
      }
    }
    this.#client = createClient({
      url: `${api.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WatchedSocket,
      connectionParams: { token: api.token },
      retryAttempts: 0,
      lazyCloseTimeout: 0,
    });
    this.ended = this.#read();
  }

  /** Resolves as soon as the condition holds; rejects when the stream ends before. */
  until(isSo: (transcript: Transcript) => boolean): Promise<void> {
    if (isSo(this.transcript)) return Promise.resolve();
    if (this.#end) return Promise.reject(asError(this.#end.reason));
    return new Promise((resolve, reject) => {
      this.#waiters.push({ isSo: () => isSo(this.transcript), resolve, reject });
    });
  }

  /** Resolves when the chat has one of the statuses and all of its events are live. */
  untilStatus(...statuses: string[]): Promise<void> {
    return this.until(({ status, isCaughtUp }) => isCaughtUp && statuses.includes(status ?? ""));
  }

  /** Destroys the connection without a close frame, as a broken network does. */
  async cut(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.ended;
  }

  async close(): Promise<void> {
    await this.#client.dispose();
    await this.ended;
  }

  async #read(): Promise<unknown> {
    const variables = { chatId: this.chatId, after: this.transcript.cursor };
    let reason: unknown = "The stream was completed.";
    try {
      for await (const result of this.#client.iterate<{ chatEvents: ChatEvent }>({
        query: CHAT_EVENTS_DOCUMENT,
        variables,
      })) {
        if (result.errors || !result.data) {
          reason = result.errors;
          break;
        }
        this.transcript.apply(result.data.chatEvents);
        this.#wake();
      }
    } catch (error) {
      reason = error;
    }
    this.#end = { reason };
    for (const waiter of this.#waiters.splice(0)) waiter.reject(asError(reason));
    await this.#client.dispose();
    return reason;
  }

  #wake(): void {
    const done = this.#waiters.filter((waiter) => waiter.isSo());
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const waiter of done) waiter.resolve();
  }
}

function asError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new Error(`The stream ended early: ${JSON.stringify(reason) ?? String(reason)}`, { cause: reason });
}
