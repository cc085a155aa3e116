// Servers for tests, with their own database and git repository: in this process, or as the real program in a child
// process that can be killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Parley, startParley } from "../../src/compose/server.js";
import { readConfig } from "../../src/config/config.js";
import type { UserRole } from "../../src/domain/users/viewer.js";
import { encodeId } from "../../src/domain/common/ids.js";
import type { Clock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Database } from "../../src/store/common/database.js";
import type { ConnectionOptions } from "../../src/store/data-source.js";
import { createToken } from "../../src/store/users/tokens.js";
import { createUser } from "../../src/store/users/users.js";
import { ApiClient } from "./clients/api-client.js";
import { AGENT_PROGRAM, SERVER_PROGRAM } from "./build.js";
import { noteOpen } from "./leaks/open-things.js";
import { createTestDatabase, type TestDatabase } from "./database/database.js";
import { SECRETS_KEYS } from "./users/secrets-keys.js";
import { createGitRepository, type GitRepository } from "./git/git-repository.js";
import { type AgentInProcess, startAgentInProcess } from "./workspaces/agent-in-process.js";

const root = resolve(import.meta.dirname, "../..");
export const ADMIN_TOKEN = "pt_admin_token_of_the_tests";

export type Settings = Record<string, string>;

/** A database and a repository, shared by the servers that are started in it. */
export type TestEnvironment = {
  database: TestDatabase;
  repository: GitRepository;
  /** Starts a server in this process; closed with the environment at the latest. */
  start(settings?: Settings, clock?: Clock): Promise<TestParley>;
  /** Starts the real program; `onLogLine` receives each line of its log, else this process's stderr. */
  spawn(
    settings?: Settings,
    onLogLine?: (line: string) => void,
    account?: { uid: number; gid: number },
  ): Promise<SpawnedParley>;
  remove(): Promise<void>;
};

export type TestParley = {
  parley: Parley;
  /** Client of the admin, who owns the workspace. */
  api: ApiClient;
  workspaceId: string;
  /** Creates a user with a token. */
  addUser(username: string, role?: UserRole): Promise<ApiClient>;
  close(): Promise<void>;
};

export type SpawnedParley = {
  api: ApiClient;
  child: ChildProcess;
  /** Sends the signal and waits for the process to exit. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

export type EnvironmentOptions = {
  /** Servers in this process start the agent program themselves; by default they attach to an agent in this process. */
  startsAgents?: boolean;
};

export async function createTestEnvironment({
  startsAgents = false,
}: EnvironmentOptions = {}): Promise<TestEnvironment> {
  const [database, repository] = await Promise.all([createTestDatabase(), createGitRepository()]);
  const running = new Set<() => Promise<unknown>>();
  let agent: Promise<AgentInProcess> | undefined;
  const attached = async (settings: Settings): Promise<Settings> => {
    if (startsAgents || settings["PARLEY_WORKSPACE_DIR"] !== undefined) return {};
    return (await (agent ??= startAgentInProcess(repository.folder))).settings;
  };
  const environment = (settings: Settings): Settings => ({
    DATABASE_URL: databaseUrl(database.options),
    PARLEY_SECRETS_KEYS: SECRETS_KEYS,
    PARLEY_PORT: "0",
    PARLEY_ADMIN_TOKEN: ADMIN_TOKEN,
    PARLEY_WORKSPACE_DIR: repository.folder,
    PARLEY_WORKSPACES_DIR: `${repository.folder}-workspaces`,
    PARLEY_DATA_DIR: `${repository.folder}-data`,
    PARLEY_LOG_LEVEL: process.env["PARLEY_TEST_LOG_LEVEL"] ?? "silent",
    // Titles are generated at unpredictable times; tests of titles switch them on.
    PARLEY_TITLES: "off",
    PARLEY_RATE_LIMITS: "off",
    ...settings,
  });
  return {
    database,
    repository,
    async start(settings = {}, clock) {
      const server = await startInProcess(environment({ ...(await attached(settings)), ...settings }), clock);
      running.add(server.close);
      return server;
    },
    async spawn(settings = {}, onLogLine, account) {
      const options = { cwd: repository.folder, ...account };
      const server = await spawnProgram(environment(settings), options, onLogLine);
      running.add(() => server.end("SIGKILL"));
      return server;
    },
    async remove() {
      await Promise.all([...running].map((end) => end()));
      await (await agent)?.close();
      const folders = ["workspaces", "data"].map((name) =>
        rm(`${repository.folder}-${name}`, { recursive: true, force: true }),
      );
      await Promise.all([database.drop(), repository.remove(), ...folders]);
    },
  };
}

async function startInProcess(settings: Settings, clock?: Clock): Promise<TestParley> {
  const config = readConfig(settings, root);
  const parley = await startParley(config, createLog(config.logLevel), {
    agentCommand: [process.execPath, AGENT_PROGRAM],
    ...(clock && { clock }),
  });
  let closed: Promise<void> | undefined;
  const url = parley.url ?? "";
  const noteClosed = noteOpen(`the server at ${url || "no address"}`);
  return {
    parley,
    api: new ApiClient(url, ADMIN_TOKEN),
    workspaceId: parley.workspaceId === null ? "" : encodeId("ws", parley.workspaceId),
    addUser: (username, role = "member") => addUser(parley.database, url, { username, role }),
    close: () => (closed ??= parley.close().finally(noteClosed)),
  };
}

async function addUser(
  database: Database,
  url: string,
  { username, role }: { username: string; role: UserRole },
): Promise<ApiClient> {
  const user = await createUser(database, { username, name: username, role });
  if (!user) throw new Error(`The user ${username} exists already.`);
  const { token } = await createToken(database, { userId: user.id, name: "test" });
  return new ApiClient(url, token);
}

const LISTENING = /^Parley listens on (\S+)\/graphql/;

async function spawnProgram(
  settings: Settings,
  options: { cwd: string; uid?: number; gid?: number },
  onLogLine?: (line: string) => void,
): Promise<SpawnedParley> {
  const child = spawn(process.execPath, [SERVER_PROGRAM, "serve"], {
    ...options,
    env: { PATH: process.env["PATH"], HOME: options.cwd, ...settings },
    stdio: ["ignore", "pipe", onLogLine ? "pipe" : "inherit"],
  });
  if (onLogLine && child.stderr) createInterface({ input: child.stderr }).on("line", onLogLine);
  const gone = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const { stdout } = child;
  const url = await new Promise<string>((found, failed) => {
    if (stdout)
      createInterface({ input: stdout }).on("line", (line) => {
        const address = LISTENING.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    gone.then(
      ([code]) => failed(new Error(`The server ended before it listened (exit code ${code}).`)),
      failed,
    );
  });
  return {
    api: new ApiClient(url, ADMIN_TOKEN),
    child,
    async end(signal) {
      child.kill(signal);
      const [code, endedBy] = await gone;
      return { code, signal: endedBy };
    },
  };
}

/** The value of DATABASE_URL. */
export function databaseUrl({ url, host, port, user, database }: ConnectionOptions): string {
  if (url !== undefined) return url;
  return `postgres://${user}@${encodeURIComponent(host ?? "localhost")}:${port ?? 5432}/${database}`;
}
