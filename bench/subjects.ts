/**
 * The programs of a run, opened in order and closed in reverse: databases, the model, Parley, the floor. Every
 * one is its own process, so that CPU times are attributed exactly and the bench's own is not counted.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchChat, Message } from "./chat.js";
import { Databases } from "./databases.js";
import { openFloorChat } from "./floor-chat.js";
import { CpuMeter } from "./machine.js";
import { openParleyChat, type ParleyAddress } from "./parley-chat.js";
import { startBenchProgram, startServer, type Program } from "./programs.js";

/** A program under test: how chats with it are opened, and its CPU meters. */
export type Subject = {
  openChats(count: number, first: Message): Promise<BenchChat[]>;
  server: CpuMeter;
  database: CpuMeter;
};

/** Parley whose statements are counted. */
export type CountedParley = {
  openChats(count: number, first: Message, subscribers: number): Promise<BenchChat[]>;
  program: Program;
  address: ParleyAddress;
  databaseName: string;
};

/** Parley with readable memory use, and users who may follow all its chats. */
export type WatchedParley = { program: Program; address: ParleyAddress; server: CpuMeter };

/** The newest prompt that the model was sent. */
export type LastPrompt = { body: Record<string, unknown>; characters: number };

/** An invented model name: a vendor's own may be deprecated one day, and then its SDK complains at each call. */
const MODEL = "claude-bench";

/** Chats that are opened at the same time; more would only wait for each other. */
const OPENED_AT_ONCE = 10;

export class Stage {
  readonly #closers: (() => Promise<unknown>)[] = [];
  #closing: Promise<void> | undefined;

  private constructor(
    readonly databases: Databases,
    private readonly model: Program,
    private readonly folder: string,
    /** For a CPU profile of each measured program. */
    private readonly nodeOptions: string[],
  ) {}

  static async open(profileFolder: string | undefined): Promise<Stage> {
    const databases = await Databases.open();
    const model = await startBenchProgram("model-server", null);
    const folder = await mkdtemp(join(tmpdir(), "parley-bench-workspace-"));
    const nodeOptions = profileFolder ? ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`] : [];
    const stage = new Stage(databases, model, folder, nodeOptions);
    stage.#closers.push(
      () => databases.close(),
      () => rm(folder, { recursive: true, force: true }),
      () => model.stop(),
    );
    return stage;
  }

  async lastPrompt(): Promise<LastPrompt> {
    return (await this.model.ask()) as LastPrompt;
  }

  /** The compiled server, as users get it. */
  async startParley(): Promise<Subject> {
    const { name, environment, token } = await this.#parleyEndpoint("parley");
    const program = await startServer(environment, this.folder, this.nodeOptions);
    this.#closers.push(() => program.stop());
    return {
      openChats: (count, first) => openMany(count, () => openParleyChat(addressOf(program, token), first, 1)),
      ...this.#meters(program, name),
    };
  }

  /** The floor, which sends the model the same system prompt and tools as the last prompt did. */
  async startFloor(): Promise<Subject> {
    const { name, url } = await this.databases.create("floor");
    const { body: prompt } = await this.lastPrompt();
    const settings = { modelUrl: this.model.url, databaseUrl: url, prompt };
    const program = await startBenchProgram("floor", settings, this.nodeOptions);
    this.#closers.push(() => program.stop());
    return {
      openChats: (count, first) => openMany(count, () => openFloorChat(program.url, first)),
      ...this.#meters(program, name),
    };
  }

  /** The caller stops it; if it does not come to that, the end of the stage does. */
  async startCountedParley(): Promise<CountedParley> {
    return this.#startCounted(await this.#parleyEndpoint("counted"));
  }

  /** Two replicas on one database and one Redis; turns run in the first only. */
  async startCountedReplicas(redisUrl: string): Promise<{ worker: CountedParley; api: CountedParley }> {
    const { environment, ...endpoint } = await this.#parleyEndpoint("replicas");
    const start = (role: string) =>
      this.#startCounted({
        ...endpoint,
        environment: { ...environment, REDIS_URL: redisUrl, PARLEY_ROLE: role },
      });
    return { worker: await start("all"), api: await start("api") };
  }

  async #startCounted({ name, environment, token }: ParleyEndpoint): Promise<CountedParley> {
    const program = await startBenchProgram("counted-parley", environment);
    this.#closers.push(() => program.stop());
    const address = addressOf(program, token);
    return {
      program,
      address,
      databaseName: name,
      openChats: (count, first, subscribers) =>
        openMany(count, () => openParleyChat(address, first, subscribers)),
    };
  }

  /** `isShared` false: each subscriber's events are executed for it alone. */
  async startWatchedParley(isShared: boolean): Promise<WatchedParley> {
    const { name, environment, token } = await this.#parleyEndpoint("watched");
    const nodeOptions = [...this.nodeOptions, "--expose-gc"];
    const program = await startBenchProgram("watched-parley", { environment, isShared }, nodeOptions);
    this.#closers.push(() => program.stop());
    return { program, address: addressOf(program, token), server: this.#meters(program, name).server };
  }

  /** Never rejects; also when it is called while something is measured, which then fails. */
  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      await close().catch((error: unknown) => console.error("The bench could not close everything:", error));
    }
  }

  #meters(program: Program, databaseName: string): { server: CpuMeter; database: CpuMeter } {
    return {
      server: new CpuMeter(() => Promise.resolve([program.processId])),
      database: new CpuMeter(this.databases.processesOf(databaseName)),
    };
  }

  async #parleyEndpoint(purpose: string): Promise<ParleyEndpoint> {
    const { name, url } = await this.databases.create(purpose);
    const token = `bench-${randomUUID()}`;
    const environment = {
      DATABASE_URL: url,
      PARLEY_SECRETS_KEYS: `bench:${randomBytes(32).toString("base64")}`,
      PARLEY_PORT: "0",
      PARLEY_DATA_DIR: join(this.folder, ".parley"),
      PARLEY_WORKSPACE_DIR: this.folder,
      PARLEY_ADMIN_TOKEN: token,
      PARLEY_LOG_LEVEL: "warn",
      // A title is made once in a chat; the bench is about the turns after that.
      PARLEY_TITLES: "off",
      PARLEY_RATE_LIMITS: "off",
      ANTHROPIC_API_KEY: "bench",
      ANTHROPIC_BASE_URL: this.model.url,
      PARLEY_MODEL: MODEL,
    };
    return { name, environment, token };
  }
}

/** Where a Parley lives, and its administrator's token. */
type ParleyEndpoint = { name: string; environment: Record<string, string>; token: string };

function addressOf({ url }: Program, token: string): ParleyAddress {
  return { url, token };
}

async function openMany(count: number, open: () => Promise<BenchChat>): Promise<BenchChat[]> {
  const chats: BenchChat[] = [];
  while (chats.length < count) {
    const next = Math.min(OPENED_AT_ONCE, count - chats.length);
    chats.push(...(await Promise.all(Array.from({ length: next }, open))));
  }
  return chats;
}
