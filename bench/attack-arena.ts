/** Shared environment of a run's attacks: the model, a database with users, and the server's program. */
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Databases } from "./databases.js";
import { type Program, startBenchProgram, startServer } from "./programs.js";

/** Memory limit, so that a server that retains too much dies rather than the machine. */
export const HEAP_MB = 1_536;

const run = promisify(execFile);

/** Tokens: the attacker's own two, and the members'. */
export type Tokens = { reader: string; talker: string; members: string[] };

export class Arena {
  readonly #closers: (() => Promise<unknown>)[] = [];
  #closing: Promise<void> | undefined;

  private constructor(
    readonly databases: Databases,
    private readonly folder: string,
    private readonly environment: Record<string, string>,
    private readonly server: string,
  ) {}

  static async open(server: string): Promise<Arena> {
    const databases = await Databases.open();
    const model = await startBenchProgram("model-server", null);
    const folder = await mkdtemp(join(tmpdir(), "parley-attack-"));
    const { url } = await databases.create("attack");
    const environment = {
      DATABASE_URL: url,
      PARLEY_SECRETS_KEYS: `bench:${randomBytes(32).toString("base64")}`,
      PARLEY_PORT: "0",
      PARLEY_DATA_DIR: join(folder, ".parley"),
      PARLEY_WORKSPACE_DIR: folder,
      PARLEY_ADMIN_TOKEN: `bench-${randomUUID()}`,
      PARLEY_LOG_LEVEL: "error",
      PARLEY_TITLES: "off",
      ANTHROPIC_API_KEY: "bench",
      ANTHROPIC_BASE_URL: model.url,
      PARLEY_MODEL: "claude-bench",
    };
    const arena = new Arena(databases, folder, environment, server);
    const remove = () => rm(folder, { recursive: true, force: true });
    arena.#closers.push(
      () => databases.close(),
      remove,
      () => model.stop(),
    );
    return arena;
  }

  /** Creates users with the server's own command, so that it works with any version. The first call migrates the database. */
  async makeTokens(members: number): Promise<Tokens> {
    const reader = await this.#token("attacker", "read");
    const talker = await this.#token("attacker", "read,chat");
    const tokens: Tokens = { reader, talker, members: [] };
    for (let number = 1; number <= members; number += 1)
      tokens.members.push(await this.#token(`member${number}`, "read,chat"));
    return tokens;
  }

  /** A fresh process on the common database. */
  async startServer(): Promise<Program> {
    const nodeOptions = [`--max-old-space-size=${HEAP_MB}`];
    const program = await startServer(this.environment, this.folder, nodeOptions, this.server);
    this.#closers.push(() => program.stop());
    return program;
  }

  async #token(user: string, scopes: string): Promise<string> {
    const args = [this.server, "token", "--user", user, "--create", "member", "--scopes", scopes];
    const env = { PATH: process.env["PATH"] ?? "", HOME: this.folder, ...this.environment };
    const { stdout } = await run(process.execPath, args, { cwd: this.folder, env });
    return stdout.trim().split("\n").at(-1) ?? "";
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse())
      await close().catch((error: unknown) => console.error("The bench could not close everything:", error));
  }
}
