// A graphql-ws server scripted by tests, including protocol violations.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

export type Asked = {
  id: string;
  after: string | null;
  socket: WebSocket;
  /** Sends events with these cursors. */
  send(...cursors: string[]): void;
  fail(code: string): void;
  complete(): void;
};

export type ScriptedServer = {
  url: string;
  /** What the server does with a connection's token; the default is to welcome it. */
  greet: (socket: WebSocket, token: unknown) => void;
  /** The next subscription; resolves at once for those that came already. */
  asked(): Promise<Asked>;
  /** The next id that a client has given up. */
  left(): Promise<string>;
  sockets: Set<WebSocket>;
  close(): Promise<void>;
};

export function welcome(socket: WebSocket): void {
  socket.send(JSON.stringify({ type: "connection_ack" }));
}

export async function startScriptedServer(port = 0): Promise<ScriptedServer> {
  const http = createServer();
  const webSocketServer = new WebSocketServer({ server: http });
  const asked = new Mailbox<Asked>();
  const left = new Mailbox<string>();
  const server: ScriptedServer = {
    url: "",
    greet: welcome,
    asked: () => asked.take(),
    left: () => left.take(),
    sockets: new Set(),
    async close() {
      for (const socket of server.sockets) socket.terminate();
      webSocketServer.close();
      http.close();
      await once(http, "close");
    },
  };
  webSocketServer.on("connection", (socket) => {
    server.sockets.add(socket);
    socket.on("close", () => server.sockets.delete(socket));
    socket.on("message", (bytes: Buffer) => {
      const message = JSON.parse(bytes.toString("utf8")) as Message;
      if (message.type === "connection_init") server.greet(socket, message.payload?.["token"]);
      if (message.type === "complete") left.put(message.id);
      if (message.type === "subscribe") asked.put(subscription(socket, message));
    });
  });
  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return server;
}

type Message = {
  type: string;
  id: string;
  payload?: { variables?: { after?: string | null } } & Record<string, unknown>;
};

function subscription(socket: WebSocket, { id, payload }: Message): Asked {
  const send = (message: object) => socket.send(JSON.stringify({ id, ...message }));
  const next = (cursor: string) => {
    const chatEvents = { __typename: "ChatCaughtUpEvent", cursor, replayedEvents: 0 };
    send({ type: "next", payload: { data: { chatEvents } } });
  };
  return {
    ...{ id, socket, after: payload?.variables?.after ?? null },
    send: (...cursors) => cursors.forEach(next),
    fail: (code) => send({ type: "error", payload: [{ message: `It is ${code}.`, extensions: { code } }] }),
    complete: () => send({ type: "complete" }),
  };
}

/** An async queue: `take` waits for `put`. */
class Mailbox<T> {
  readonly #letters: T[] = [];
  readonly #readers: ((letter: T) => void)[] = [];

  put(letter: T): void {
    const reader = this.#readers.shift();
    if (reader) reader(letter);
    else this.#letters.push(letter);
  }
  take(): Promise<T> {
    const letter = this.#letters.shift();
    if (letter !== undefined) return Promise.resolve(letter);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}
