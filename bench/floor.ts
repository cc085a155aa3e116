/**
 * The floor: the least that any server must do for a turn, and so the measure of Parley's own share. It puts the
 * user's message into PostgreSQL, streams the answer through the vendor's SDK with one socket frame for each
 * delta, and puts the answer into PostgreSQL. One socket is one chat; history is in memory only and never read.
 */
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import type {
  MessageCreateParamsStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources/messages/messages";
import pg from "pg";
import { WebSocketServer, type WebSocket } from "ws";
import { serveBench } from "./child-program.js";

/** `prompt` is a request of Parley's own, so that both send the same system prompt and tools. */
export type FloorSettings = { modelUrl: string; databaseUrl: string; prompt: MessageCreateParamsStreaming };

/** A delta, or the end of the turn. */
export type FloorFrame = { append: string } | { end: true };

/** As many as one Parley has. */
const POOL_SIZE = 10;

const INSERT = {
  name: "floor-insert",
  text: "INSERT INTO floor_messages (chat_id, role, content) VALUES ($1, $2, $3)",
};

class Floor {
  readonly #model: Anthropic;
  readonly #pool: pg.Pool;
  readonly #prompt: MessageCreateParamsStreaming;

  constructor({ modelUrl, databaseUrl, prompt }: FloorSettings) {
    this.#model = new Anthropic({ apiKey: "none", baseURL: modelUrl, maxRetries: 0, logLevel: "off" });
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: POOL_SIZE });
    this.#prompt = prompt;
  }

  async prepare(): Promise<void> {
    await this.#pool.query(`CREATE TABLE floor_messages (
      id bigserial PRIMARY KEY, chat_id int NOT NULL, role text NOT NULL, content jsonb NOT NULL)`);
  }

  serve(socket: WebSocket, chatId: number): void {
    const history: MessageParam[] = [];
    socket.on("message", (text) => {
      // Text arrives as a Buffer unless configured otherwise.
      const message = (text as Buffer).toString("utf8");
      // Without an end the bench's own limit reports the turn; the cause is on standard error.
      this.#turn(socket, { chatId, history }, message).catch((error: unknown) => console.error(error));
    });
  }

  async #turn(
    socket: WebSocket,
    { chatId, history }: { chatId: number; history: MessageParam[] },
    text: string,
  ): Promise<void> {
    await this.#save(chatId, history, { role: "user", content: [{ type: "text", text }] });
    const stream = await this.#model.messages.create({ ...this.#prompt, messages: history });
    let answer = "";
    for await (const event of stream) {
      if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
      answer += event.delta.text;
      send(socket, { append: event.delta.text });
    }
    await this.#save(chatId, history, { role: "assistant", content: [{ type: "text", text: answer }] });
    send(socket, { end: true });
  }

  async #save(chatId: number, history: MessageParam[], message: MessageParam): Promise<void> {
    history.push(message);
    const values = [chatId, message.role, JSON.stringify(message.content)];
    await this.#pool.query({ ...INSERT, values });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

function send(socket: WebSocket, frame: FloorFrame): void {
  socket.send(JSON.stringify(frame));
}

await serveBench(async (settings) => {
  const floor = new Floor(settings as FloorSettings);
  await floor.prepare();
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  let chats = 0;
  server.on("connection", (socket) => floor.serve(socket, (chats += 1)));
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    answer: () => undefined,
    close: () => {
      server.close();
      return floor.close();
    },
  };
});
