/**
 * Git credentials for commands: points each command's git at an askpass script, and answers the script's requests.
 * States: unopened → (a command starts) open or, permanently, unavailable → closed. Nothing secret is ever written: the
 * folder contains a script and a socket.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { createRunGit } from "../git/run-git.js";
import type { AskpassConfig, Environment } from "../process/environment.js";
import type { GitCredentials, GitCredentialsRequest } from "../protocol/control-channel.js";
import { ChatKeys } from "./chat-keys.js";
import {
  EXCHANGE_TIMEOUT_MS,
  MAX_EXCHANGE_BYTES,
  type AskpassAnswer,
  type AskpassRequest,
} from "./exchange.js";
import { removeStaleFolders } from "./stale-folders.js";
import { parsePrompt } from "./prompt.js";
import { readGitContext, type GitContext } from "./git-context.js";
import { siblingProgram } from "../../lib/sibling-program.js";

/** Two small git commands that only read files. */
const GIT_TIMEOUT_MS = 5_000;
/** Concurrent requests; each has a small buffer. */
const MAX_CONNECTIONS = 64;

const FOLDER_PREFIX = "parley-askpass-";
/**
 * A socket's path has at most 103 bytes on some systems. Longer ones are silently truncated, and the socket would be
 * outside of the folder. This prefix is followed by six random characters and the socket's name.
 */
const MAX_PREFIX_BYTES = 103 - "XXXXXX/socket".length;
const SCRIPT_NAME = "askpass";
const SOCKET_NAME = "socket";

const requestSchema = z.object({
  prompt: z.string(),
  key: z.string().optional(),
  directory: z.string(),
  gitDirectory: z.string().optional(),
}) satisfies z.ZodType<AskpassRequest>;

export type AskpassOptions = {
  /** Inherited by git when it is asked for branch and origin. */
  environment: Environment;
  /** Must not reject. */
  askServers(request: GitCredentialsRequest): Promise<GitCredentials>;
  clock: Clock;
  log: Log;
};

export class Askpass {
  readonly #keys = new ChatKeys();
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<void>>();
  #server: Server | undefined;
  #folder: string | null | undefined;

  constructor(private readonly options: AskpassOptions) {}

  /** The askpass settings for a command's environment; null when no folder can be made. */
  configFor(chatId: string | undefined): AskpassConfig | null {
    // Systems clean their temporary directories while agents live for weeks.
    const isGone = this.#folder && !existsSync(join(this.#folder, SCRIPT_NAME));
    if (isGone) this.#server?.close();
    if (isGone || this.#folder === undefined) this.#folder = this.#open();
    if (this.#folder === null) return null;
    return {
      program: join(this.#folder, SCRIPT_NAME),
      key: chatId === undefined ? undefined : this.#keys.keyFor(chatId),
    };
  }

  /** Drops open connections; resolves when socket and folder are gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    const server = this.#server;
    for (const socket of this.#sockets) socket.destroy();
    if (server?.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all(this.#work);
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  /** The folder; null, permanently, when it cannot be made: commands then run without credentials. */
  #open(): string | null {
    if (this.#closing.signal.aborted) return null;
    try {
      const prefix = join(tmpdir(), FOLDER_PREFIX);
      if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES) {
        throw new Error(`${tmpdir()} is too long a path for a socket in it.`);
      }
      // `mkdtemp` creates it with mode 0700, so no other user reaches the socket.
      const folder = mkdtempSync(prefix);
      const script = join(folder, SCRIPT_NAME);
      writeFileSync(script, askpassScript(join(folder, SOCKET_NAME)));
      chmodSync(script, 0o500);
      this.#server = this.#listen(folder);
      this.#track(removeStaleFolders(tmpdir(), FOLDER_PREFIX, SOCKET_NAME, this.options.clock.now()));
      return folder;
    } catch (error) {
      this.#warn(error);
      return null;
    }
  }

  #listen(folder: string): Server {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#track(this.#serve(socket)));
    server.maxConnections = MAX_CONNECTIONS;
    server.on("error", (error) => {
      this.#warn(error);
      this.#folder = null;
      rmSync(folder, { recursive: true, force: true });
    });
    return server.listen(join(folder, SOCKET_NAME));
  }

  #warn(error: unknown): void {
    this.options.log.warn({ err: error }, "git credentials are not available to commands");
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    const cancel = this.options.clock.after(EXCHANGE_TIMEOUT_MS, () => socket.destroy());
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    try {
      const text = await readAll(socket);
      if (text === null) return;
      socket.end(JSON.stringify(await this.#answer(text)));
      await closed;
    } finally {
      cancel();
      socket.destroy();
      this.#sockets.delete(socket);
    }
  }

  async #answer(text: string): Promise<AskpassAnswer> {
    const request = requestSchema.safeParse(fromJson(text));
    if (!request.success) return { refusal: "The request is not one of this agent's askpass program." };
    const { prompt, key } = request.data;
    if (key === undefined) return { refusal: "This command belongs to no chat, so it has no credentials." };
    const chatId = this.#keys.chatOf(key);
    if (chatId === null) return { refusal: "This command's key was not issued by this agent." };
    const parsed = parsePrompt(prompt);
    if (parsed === null) return { refusal: "Only user names and passwords for HTTP(S) hosts are available." };
    const { site, wants } = parsed;
    const context = await this.#gitContext(request.data);
    const answer = await this.options.askServers({ chatId, site, ...context });
    this.options.log.debug(
      { chatId, site, wants, outcome: answer.outcome },
      "git credentials requested by a command",
    );
    if (answer.outcome === "refused") return { refusal: answer.reason };
    return { answer: wants === "username" ? answer.username : answer.password };
  }

  /** Empty on failure: credentials do not depend on it. */
  async #gitContext({ directory, gitDirectory }: AskpassRequest): Promise<GitContext> {
    const { environment, clock, log } = this.options;
    const runGit = createRunGit({ environment, clock, timeoutMs: GIT_TIMEOUT_MS });
    try {
      // A derived signal for each request: many at once would add many listeners to the shared one.
      const signal = AbortSignal.any([this.#closing.signal]);
      return await readGitContext(runGit, { directory, gitDirectory }, signal);
    } catch (error) {
      log.debug({ err: error }, "git context of a credential request unknown");
      return {};
    }
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }
}

/** Everything that is sent; null when it is too much, or the connection breaks. */
async function readAll(socket: Socket): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      length += (chunk as Buffer).length;
      if (length > MAX_EXCHANGE_BYTES) return null;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // The client disconnected.
    return null;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Undefined for anything that is not JSON, which no schema here accepts. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The script that git runs: git takes a single path, so interpreter, program and socket path are inside. */
function askpassScript(socketPath: string): string {
  const { file, nodeArguments } = siblingProgram("askpass", "./program", import.meta.url);
  const words = [process.execPath, ...nodeArguments, file, socketPath].map(quote).join(" ");
  // A command's own Node options, such as a debugger that waits, must not apply to this program.
  return `#!/bin/sh\nunset NODE_OPTIONS\nexec ${words} "$@"\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
