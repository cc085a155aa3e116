// Servers with a git host, for tests of credentials: the log is recorded, and all files are in folders that a test can
// search.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { vi } from "vitest";
import { type Parley, startParley } from "../../../src/compose/server.js";
import { readConfig } from "../../../src/config/config.js";
import type { GitCredentialsDependencies } from "../../../src/services/git/git-credentials.js";
import { ChatCache } from "../../../src/engine/transitions/chat-cache.js";
import { MemoryBus } from "../../../src/events/bus/memory-bus.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { SecretBox, type SecretKey } from "../../../src/store/common/secret-box.js";
import { createToken } from "../../../src/store/users/tokens.js";
import { createUser } from "../../../src/store/users/users.js";
import { ApiClient } from "../clients/api-client.js";
import { AGENT_PROGRAM } from "../build.js";
import { createTestDatabase } from "../database/database.js";
import { type GitHost, startGitHost } from "./git-http.js";
import { databaseUrl } from "../parley.js";
import { startStagedModel } from "../models/staged-model.js";

const ADMIN_TOKEN = "pt_admin_token_of_the_tests";

export type GitServer = { parley: Parley; api: ApiClient; enter(username: string): Promise<ApiClient> };

export type GitDeployment = {
  host: GitHost;
  workspace: string;
  databaseUrl: string;
  /** Folders with all files outside the database. */
  folders: string[];
  /** Log of the servers and local agents, at the lowest level. */
  logged(): string;
  /** `keys`: the value of PARLEY_SECRETS_KEYS; `more`: further settings of this server. */
  start(secretsKeys: string, more?: Record<string, string>): Promise<GitServer>;
  run(api: ApiClient, command: string, more?: object): Promise<CommandRun>;
  query(text: string, values?: unknown[]): Promise<unknown[]>;
  remove(): Promise<void>;
};

/** `received`: every event of the chat's follower, and the chat itself. */
export type CommandRun = { chatId: string; output: string; exitCode: number | undefined; received: string };

/** Starts the git host, which requires the token. Until it is removed all temporary files are in its own folder. */
export async function createGitDeployment(token: string): Promise<GitDeployment> {
  const folder = async () => realpath(await mkdtemp(join(tmpdir(), "parley-git-deployment-")));
  const [database, host, model] = await Promise.all([
    createTestDatabase(),
    startGitHost(token),
    startStagedModel(),
  ]);
  const folders = [await folder(), await folder(), await folder()];
  const [workspace = "", dataDir = "", temporary = ""] = folders;
  const running: Parley[] = [];
  let logged = "";
  vi.stubEnv("TMPDIR", temporary);
  // Agents' logs go there.
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    logged += String(text);
    return true;
  });
  const settings = {
    DATABASE_URL: databaseUrl(database.options),
    PARLEY_PORT: "0",
    PARLEY_ADMIN_TOKEN: ADMIN_TOKEN,
    PARLEY_WORKSPACE_DIR: workspace,
    PARLEY_DATA_DIR: dataDir,
    PARLEY_TITLES: "off",
    PARLEY_RATE_LIMITS: "off",
    ...model.settings,
  };
  return {
    ...{ host, workspace, folders, logged: () => logged },
    databaseUrl: settings.DATABASE_URL,
    async start(secretsKeys, more = {}) {
      const config = readConfig({ ...settings, PARLEY_SECRETS_KEYS: secretsKeys, ...more }, workspace);
      const log = pino({ level: "trace" }, { write: (line: string) => (logged += line) });
      const parley = await startParley(config, log, { agentCommand: [process.execPath, AGENT_PROGRAM] });
      running.push(parley);
      const at = parley.url ?? "";
      return {
        parley,
        api: new ApiClient(at, more["PARLEY_ADMIN_TOKEN"] ?? ADMIN_TOKEN),
        enter: (username) => enter(parley, at, username),
      };
    },
    async run(api, command, more = {}) {
      const call = { id: "call_1", name: "execute", arguments: { command, timeout: "80s" } };
      model.cast(`please ${command}`, [{ toolCalls: [call] }, { text: "Done." }]);
      return watch(api, await api.createChat(`please ${command}`, more));
    },
    query: (text, values = []) => database.dataSource.query<unknown[]>(text, values),
    async remove() {
      for (const parley of running) await parley.close();
      await Promise.all([database.drop(), host.close(), model.close()]);
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
      await Promise.all(folders.map((it) => rm(it, { recursive: true, force: true })));
    },
  };
}

async function enter(parley: Parley, url: string, username: string): Promise<ApiClient> {
  const user = await createUser(parley.database, { username, name: username, role: "member" });
  const { token } = await createToken(parley.database, { userId: user?.id ?? "", name: "test" });
  return new ApiClient(url, token);
}

async function watch(api: ApiClient, chatId: string): Promise<CommandRun> {
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  const shown = await api.chat(chatId);
  const part = shown?.messages.nodes.find(({ role }) => role === "TOOL")?.parts[0];
  const result = (part as { result?: { output?: string; exit_code?: number } } | undefined)?.result;
  return {
    chatId: decodeId("chat", chatId) ?? "",
    output: result?.output ?? "",
    exitCode: result?.exit_code,
    received: JSON.stringify([shown, follower.transcript]),
  };
}

/** The dependencies of issuing credentials, for tests that call it directly. */
export function credentialDependencies({ database }: Parley, key: SecretKey): GitCredentialsDependencies {
  const log = createLog("silent");
  return {
    ...{ database, log, clock: systemClock, bus: new MemoryBus(log), chatCache: new ChatCache() },
    secrets: new SecretBox([key]),
  };
}

export type Connection = { id: string; host: string; login: string | null; createdAt: string };
export type Connected = { connection: Connection | null; userErrors: object[] };

export function connectHost(api: ApiClient, host: string, token: string): Promise<Connected> {
  return api.change("connectGitHost", { host, token }, "connection: account { id host login createdAt }");
}

export async function connections(api: ApiClient): Promise<Connection[]> {
  const query = "{ viewer { gitHostAccounts { id host login createdAt } } }";
  return (await api.get<{ viewer: { gitHostAccounts: Connection[] } }>(query)).viewer.gitHostAccounts;
}

/** The stored diff statuses of chats. */
export function diffStatuses(deployment: GitDeployment): Promise<unknown[]> {
  return deployment.query(
    `SELECT chat_id AS "chatId", git_branch AS branch, git_remote_origin AS origin, stale_at < now() AS "isStale"
     FROM chat_diff_statuses`,
  );
}

/** Tables with a row that contains the text in any column. */
export async function tablesWith(deployment: GitDeployment, text: string): Promise<string[]> {
  const tables = await deployment.query(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const found = await Promise.all(
    (tables as { name: string }[]).map(async ({ name }) => {
      const query = `SELECT 1 FROM "${name}" AS t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`;
      return (await deployment.query(query, [text])).length > 0 ? [name] : [];
    }),
  );
  return found.flat();
}
