/**
 * The attacker of `npm run bench:attack`, in its own process, so that its load is not the members'. Attacks until
 * stopped; responds with counts of requests and responses.
 */
import { Agent, request as httpRequest } from "node:http";
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { serveBench } from "./child-program.js";

export type AttackSettings =
  | { attack: "cpu"; url: string; token: string; connections: number }
  | { attack: "bytes"; url: string; token: string; chatId: string; readers: number; sockets: number }
  | { attack: "strangers"; url: string; sockets: number };

/** The attacker's counts: `refused` with a code of the API's or a status of 4xx or 503, `failed` without an answer. */
export type AttackCounts = { sent: number; answered: number; refused: number; failed: number; bytes: number };

/** Some 4.5 kB, within the bounds on tokens; compared with itself it took half a second to validate. */
const COSTLY = `{ ${"chats{nodes{id}} ".repeat(264)}}`;
/** As many aliases as there may be, each with the whole queue. */
const HUGE = `query($id: ID!) { ${Array.from(
  { length: 15 },
  (_, index) => `a${index}: chat(id: $id) { queuedMessages { parts { ... on TextPart { text } } } }`,
).join(" ")} }`;
const QUEUE_EVENTS =
  "subscription($id: ID!) { chatEvents(chatId: $id) { __typename ... on ChatQueueEvent { queuedMessages { parts { ... on TextPart { text } } } } } }";

/** A slot whose connection has ended is filled again after this. */
const COME_BACK_MS = 1_000;
/** Opened at one time; more would only wait in the attacker. */
const OPENED_AT_ONCE = 200;

const counts: AttackCounts = { sent: 0, answered: 0, refused: 0, failed: 0, bytes: 0 };
let isOver = false;

/** One operation over HTTP; the response is counted and discarded. */
function post(agent: Agent, { url, token }: { url: string; token: string }, body: object): Promise<void> {
  counts.sent += 1;
  return new Promise((resolve) => {
    const fail = () => {
      counts.failed += 1;
      // A server that is gone is not asked in a tight loop.
      void sleep(COME_BACK_MS).then(resolve);
    };
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const request = httpRequest(`${url}/graphql`, { method: "POST", agent, headers }, (response) => {
      let hasErrors = false;
      response.on("data", (chunk: Buffer) => {
        counts.bytes += chunk.length;
        hasErrors ||= chunk.subarray(0, 100).includes('"errors"');
      });
      response.once("error", fail);
      response.once("end", () => {
        if (hasErrors || response.statusCode !== 200) counts.refused += 1;
        else counts.answered += 1;
        resolve();
      });
    });
    request.once("error", fail);
    request.end(JSON.stringify(body));
  });
}

/** Texts that never repeat, so that none is cached. */
function sendCostly(settings: Extract<AttackSettings, { attack: "cpu" }>): void {
  const agent = new Agent({ keepAlive: true, maxSockets: settings.connections });
  const loop = async (connection: number) => {
    for (let time = 0; !isOver; time += 1)
      await post(agent, settings, { query: `${COSTLY}#${connection} ${time}` });
  };
  for (let connection = 0; connection < settings.connections; connection += 1) void loop(connection);
}

function sendHuge(settings: Extract<AttackSettings, { attack: "bytes" }>): void {
  const { url, token, chatId, readers, sockets } = settings;
  const agent = new Agent({ keepAlive: true, maxSockets: readers });
  const loop = async () => {
    while (!isOver) await post(agent, settings, { query: HUGE, variables: { id: chatId } });
  };
  for (let reader = 0; reader < readers; reader += 1) void loop();
  for (let number = 0; number < sockets; number += 1) {
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
    socket.on("error", () => (counts.failed += 1));
    socket.once("open", () => socket.send(JSON.stringify({ type: "connection_init", payload: { token } })));
    socket.once("message", () => {
      for (let id = 0; id < 4; id += 1) {
        const payload = { query: QUEUE_EVENTS, variables: { id: chatId } };
        socket.send(JSON.stringify({ id: String(id), type: "subscribe", payload }));
      }
      // From here on nothing is read.
      socket.pause();
    });
  }
}

/** Upgrades that say nothing more. */
async function comeUnnamed({
  url,
  sockets,
}: Extract<AttackSettings, { attack: "strangers" }>): Promise<void> {
  const { hostname, port } = new URL(url);
  const head = `GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${"A".repeat(22)}==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`;
  const open = (): void => {
    if (isOver) return;
    counts.sent += 1;
    const socket: Socket = createConnection({ host: hostname, port: Number(port) });
    socket.once("connect", () => socket.write(head));
    socket.once("data", (answer: Buffer) => {
      if (answer.includes(" 101 ")) counts.answered += 1;
      else counts.refused += 1;
    });
    socket.on("error", () => (counts.failed += 1));
    socket.once("close", () => void sleep(COME_BACK_MS).then(open));
  };
  for (let opened = 0; opened < sockets && !isOver; opened += 1) {
    open();
    if (opened % OPENED_AT_ONCE === 0) await sleep(1);
  }
}

function attack(settings: AttackSettings): void {
  switch (settings.attack) {
    case "cpu":
      return sendCostly(settings);
    case "bytes":
      return sendHuge(settings);
    case "strangers":
      return void comeUnnamed(settings);
  }
}

await serveBench(async (settings) => {
  const wanted = settings as AttackSettings;
  attack(wanted);
  return {
    url: wanted.url,
    answer: () => counts,
    close: async () => {
      isOver = true;
    },
  };
});
