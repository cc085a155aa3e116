// Git hosts that people connect: who may see and use them, and that a token is nowhere but where it is needed.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Parley, startParley } from "../../src/cli/parley.js";
import { readConfig } from "../../src/config.js";
import { decodeId, encodeId } from "../../src/domain/ids.js";
import { giveGitCredentials } from "../../src/engine/git-credentials.js";
import { createLog } from "../../src/lib/log.js";
import { SecretBox } from "../../src/store/secret-box.js";
import { createAgentToken, createExternalWorkspace } from "../../src/store/external-workspaces.js";
import { createToken } from "../../src/store/tokens.js";
import { createUser, findOldestAdmin } from "../../src/store/users.js";
import { hashAgentToken } from "../../src/workspaces/tunnels/requests.js";
import { ApiClient } from "../support/api-client.js";
import { startCaller } from "../support/caller.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { startGitHost, type GitHost } from "../support/git-http.js";
import { type StagedModel, startStagedModel } from "../support/staged-model.js";

// Whole servers with agents, and programs that git starts.
vi.setConfig({ testTimeout: 90_000 });

const ADMIN_TOKEN = "pt_admin_token_of_the_tests";
const TOKEN = `token_${randomBytes(20).toString("hex")}`;
const keyOf = (id: string) => ({ id, bytes: randomBytes(32) });
const written = ({ id, bytes }: { id: string; bytes: Buffer }) => `${id}:${bytes.toString("base64")}`;
const [first, second] = [keyOf("first"), keyOf("second")];

let database: TestDatabase;
let workspace: string;
let dataDir: string;
/** Where this test's programs put what is temporary. */
let temporary: string;
let host: GitHost;
let model: StagedModel;
let logged: string;
let running: Parley[];
beforeEach(async () => {
  const folder = async () => realpath(await mkdtemp(join(tmpdir(), "parley-git-credentials-")));
  [database, workspace, dataDir, temporary, host, model] = await Promise.all([
    createTestDatabase(),
    folder(),
    folder(),
    folder(),
    startGitHost(TOKEN),
    startStagedModel(),
  ]);
  [logged, running] = ["", []];
  vi.stubEnv("TMPDIR", temporary);
  // The agent's log goes there.
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    logged += String(text);
    return true;
  });
});
afterEach(async () => {
  for (const parley of running) await parley.close();
  await Promise.all([database.drop(), host.close(), model.close()]);
  await Promise.all(
    [workspace, dataDir, temporary].map((folder) => rm(folder, { recursive: true, force: true })),
  );
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Server = { parley: Parley; api: ApiClient; enter(username: string): Promise<ApiClient> };

/** A server that logs everything there is to log. */
async function start(keys: string | undefined = written(first)): Promise<Server> {
  const { url, host: address, port, user, database: name } = database.options;
  const config = readConfig(
    {
      DATABASE_URL: url ?? `postgres://${user}@${encodeURIComponent(address ?? "")}:${port}/${name}`,
      PARLEY_PORT: "0",
      PARLEY_ADMIN_TOKEN: ADMIN_TOKEN,
      PARLEY_WORKSPACE_DIR: workspace,
      PARLEY_DATA_DIR: dataDir,
      PARLEY_TITLES: "off",
      PARLEY_SECRETS_KEYS: keys,
      ...model.settings,
    },
    workspace,
  );
  const log = pino({ level: "trace" }, { write: (line: string) => (logged += line) });
  const parley = await startParley(config, log);
  running.push(parley);
  return {
    parley,
    api: new ApiClient(parley.url ?? "", ADMIN_TOKEN),
    async enter(username) {
      const person = await createUser(parley.database, { username, name: username, role: "member" });
      const made = await createToken(parley.database, { userId: person?.id ?? "", name: "test" });
      return new ApiClient(parley.url ?? "", made.token);
    },
  };
}

type Connection = { id: string; host: string; login: string | null; connectedAt: string };
type Connected = { connection: Connection | null; userErrors: object[] };

function connectHost(api: ApiClient, name: string, token = TOKEN): Promise<Connected> {
  return api.change("connectGitHost", { host: name, token }, "connection { id host login connectedAt }");
}

async function connections(api: ApiClient): Promise<Connection[]> {
  const query = "{ viewer { gitConnections { id host login connectedAt } } }";
  return (await api.get<{ viewer: { gitConnections: Connection[] } }>(query)).viewer.gitConnections;
}

/** Runs a command in a new chat; what its tool said, and every event that the chat's followers got. */
async function run(api: ApiClient, command: string, more: object = {}) {
  const call = { id: "call_1", name: "execute", arguments: { command, timeout: "80s" } };
  model.cast(`please ${command}`, [{ toolCalls: [call] }, { text: "Done." }]);
  const chatId = await api.createChat(`please ${command}`, more);
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  const shown = await api.chat(chatId);
  const part = shown?.messages.nodes.find(({ role }) => role === "TOOL")?.parts[0];
  const result = (part as { result?: { output?: string; exit_code?: number } } | undefined)?.result;
  const said = JSON.stringify([shown, follower.transcript]);
  return { chatId: decodeId("chat", chatId) ?? "", output: result?.output ?? "", said, result };
}

const CLONE_AND_PUSH = () =>
  `git clone --quiet ${host.repositoryUrl} work && cd work && git switch --quiet -c topic && ` +
  `git -c user.name=A -c user.email=a@b.example commit --quiet --allow-empty -m Work && git push --quiet origin topic && echo pushed`;

async function diffStatuses() {
  const rows: unknown = await database.dataSource.query(
    `SELECT chat_id AS "chatId", git_branch AS branch, git_remote_origin AS origin, stale_at < now() AS "isStale"
     FROM chat_diff_statuses`,
  );
  return rows;
}

/** Tables with a row in which the text stands, in whatever column. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await database.dataSource.query<{ name: string }[]>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const query = `SELECT 1 FROM "${name}" AS t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`;
      return (await database.dataSource.query<unknown[]>(query, [text])).length > 0 ? [name] : [];
    }),
  );
  return found.flat();
}

/** Files in and below the folders that hold the text; what goes away meanwhile is none. */
function filesWith(text: string, folders: string[]): string[] {
  const command = 'grep -rlsF -D skip -e "$0" "$@" || true';
  return execFileSync("sh", ["-c", command, text, ...folders], { encoding: "utf8" })
    .split("\n")
    .slice(0, -1);
}

describe("git in a chat", () => {
  test("[K13] [K15] clones and pushes with the token of the chat's owner, and the token shows nowhere", async () => {
    const { api } = await start();
    const { connection } = await connectHost(api, host.url);
    const sibling = await run(api, "echo quiet");
    const { output, chatId, said } = await run(api, CLONE_AND_PUSH());
    expect(output).toBe("pushed\n");
    expect(await host.git("log", "--format=%s", "topic")).toBe("Work\nBegin\n");
    expect(new Set(host.shown)).toEqual(new Set([`oauth2:${TOKEN}`]));
    expect(await diffStatuses()).toEqual([
      { chatId, branch: "topic", origin: host.repositoryUrl, isStale: true },
    ]);
    const shown = JSON.stringify([connection, await connections(api), said, sibling.said]);
    expect(shown).not.toContain(TOKEN);
    expect(await tablesWith(TOKEN)).toEqual([]);
    expect(filesWith(TOKEN, [workspace, dataDir, temporary])).toEqual([]);
    // Both programs have spoken, and at their most talkative.
    expect(logged).toContain("A chat's git has been given a token");
    expect(logged).not.toContain(TOKEN);
    expect(logged).not.toContain(first.bytes.toString("base64"));
  });

  test("[K3] [K13] without a connection the command fails and says what the person can do", async () => {
    const { api } = await start();
    const { output, result, chatId } = await run(api, `git clone ${host.repositoryUrl} work`);
    expect(result).toMatchObject({ exit_code: 128 });
    expect(output).toContain(
      `parley: The chat's owner has not connected ${host.url} to Parley; they can do so with connectGitHost.`,
    );
    expect({ shown: host.shown, statuses: await diffStatuses(), chatId: chatId !== "" }).toEqual({
      shown: [],
      statuses: [],
      chatId: true,
    });
  });

  test("[K13] a person's connection is for their own chats", async () => {
    const server = await start();
    await connectHost(await server.enter("bob"), host.url);
    const { output } = await run(server.api, `git clone ${host.repositoryUrl} work`);
    expect(output).toContain(`has not connected ${host.url} to Parley`);
    expect(host.shown).toEqual([]);
  });

  test("[K14] a host is its port and its encryption too: another one does not get its token", async () => {
    const { api } = await start();
    const encrypted = host.url.replace("http://", "");
    await connectHost(api, encrypted);
    await connectHost(api, "http://127.0.0.1");
    const { output } = await run(api, `git clone ${host.repositoryUrl} work`);
    expect(output).toContain(`has not connected ${host.url} to Parley`);
    expect(host.shown).toEqual([]);
  });

  test("a connection that ends, and one that is replaced, count from the next command on", async () => {
    const { api } = await start();
    await connectHost(api, host.url, "another-token");
    expect((await run(api, `git clone ${host.repositoryUrl} one`)).result).toMatchObject({ exit_code: 128 });
    const { connection } = await connectHost(api, host.url);
    const again = await run(api, `git clone --quiet ${host.repositoryUrl} two && echo cloned`);
    expect(again.output).toBe("cloned\n");
    await api.change("disconnectGitHost", { connectionId: connection?.id }, "deletedId");
    expect((await run(api, `git clone ${host.repositoryUrl} three`)).output).toContain("has not connected");
  });

  test("an agent that died and was started anew gives tokens as the one before", async () => {
    const { api } = await start();
    await connectHost(api, host.url);
    const clone = (name: string) => `git clone --quiet ${host.repositoryUrl} ${name} && echo cloned`;
    expect((await run(api, clone("one"))).output).toBe("cloned\n");
    await run(api, "kill -9 $PPID");
    expect((await run(api, clone("two"))).output).toBe("cloned\n");
  });

  test("an agent that has called gives tokens as any other", async () => {
    const { api, parley } = await start();
    await connectHost(api, host.url);
    const owner = await findOldestAdmin(parley.database);
    const token = createAgentToken();
    const wanted = { ownerId: owner?.id ?? "", name: "far", tokenHash: hashAgentToken(token) };
    const workspaceId = encodeId("ws", (await createExternalWorkspace(parley.database, wanted)) ?? "");
    const caller = startCaller({ token, directory: workspace, servers: [api.url.replace("http", "ws")] });
    try {
      await caller.untilSaid(1);
      const clone = `git clone --quiet ${host.repositoryUrl} far && echo cloned`;
      expect((await run(api, clone, { workspaceId })).output).toBe("cloned\n");
      expect(caller.log.map((line) => JSON.stringify(line)).filter((line) => line.includes(TOKEN))).toEqual(
        [],
      );
    } finally {
      await caller.end("SIGKILL");
    }
  });

  test("tokens survive a new key, and without the old one they are refused politely", async () => {
    const before = await start(written(first));
    await connectHost(before.api, host.url);
    await before.parley.close();
    const both = await start(`${written(second)},${written(first)}`);
    const clone = (name: string) => `git clone --quiet ${host.repositoryUrl} ${name} && echo cloned`;
    expect((await run(both.api, clone("one"))).output).toBe("cloned\n");
    await both.parley.close();
    const without = await start(written(second));
    const { output } = await run(without.api, clone("two"));
    expect(output).toContain(`parley: The token for ${host.url} cannot be read; connect the host again.`);
    expect(logged).toContain('"failure":"unknown-key"');
  });
});

describe("what a server answers an agent", () => {
  const site = "https://git.example";

  test("[K13] an agent gets nothing for a chat of another workspace, in the words of a host that is not connected", async () => {
    const { api, parley } = await start();
    await connectHost(api, "git.example");
    const { chatId } = await run(api, "true");
    const parts = {
      database: parley.database,
      secrets: new SecretBox([first]),
      log: createLog("silent"),
    };
    const work = { branch: "main", remoteOrigin: "https://git.example/a.git" };
    const ask = (workspaceId: string, chat: string, at = site) =>
      giveGitCredentials(parts, workspaceId, { chatId: chat, site: at, ...work });
    const own = parley.workspaceId ?? "";
    const refused = (name: string) => ({
      outcome: "refused",
      reason: `The chat's owner has not connected ${name} to Parley; they can do so with connectGitHost.`,
    });
    const elsewhere = "00000000-0000-4000-8000-000000000000";
    expect([
      await ask(elsewhere, chatId),
      await ask(own, elsewhere),
      await ask(own, "no-chat-at-all"),
      await ask(own, `${chatId}' OR 1=1 --`),
    ]).toEqual([refused("git.example"), refused("git.example"), refused(site), refused(site)]);
    expect(await diffStatuses()).toEqual([]);
    expect(await ask(own, chatId)).toEqual({ outcome: "given", username: "oauth2", password: TOKEN });
    expect(await ask(own, chatId, "https://github.com")).toEqual(refused("github.com"));
    expect(await ask(own, chatId, "nonsense at all")).toEqual(refused("nonsense at all"));
  });

  test("[K15] no branch or no origin is no mark, and a later one replaces an earlier one", async () => {
    const { api, parley } = await start();
    const { chatId } = await run(api, "true");
    const parts = { database: parley.database, secrets: null, log: createLog("silent") };
    const ask = (more: { branch?: string; remoteOrigin?: string }) =>
      giveGitCredentials(parts, parley.workspaceId ?? "", { chatId, site, ...more });
    await ask({ branch: "main" });
    await ask({ remoteOrigin: "https://git.example/a.git" });
    await ask({ branch: "", remoteOrigin: "https://git.example/a.git" });
    expect(await diffStatuses()).toEqual([]);
    await ask({ branch: "one", remoteOrigin: "https://git.example/a.git" });
    await ask({ branch: "two", remoteOrigin: "https://git.example/b.git" });
    expect(await diffStatuses()).toEqual([
      { chatId, branch: "two", origin: "https://git.example/b.git", isStale: true },
    ]);
  });
});

describe("connecting a host", () => {
  test("connections are listed by host, found by id, replaced and ended", async () => {
    const { api } = await start();
    const one = await connectHost(api, "https://GitHub.com/");
    const two = await connectHost(api, "git.example:8443", `  ${TOKEN}\n`);
    expect([one.userErrors, two.userErrors]).toEqual([[], []]);
    expect(one.connection).toEqual({
      id: expect.stringMatching(/^git_[0-9a-f-]{36}$/) as string,
      host: "github.com",
      login: null,
      connectedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect(await connections(api)).toEqual([two.connection, one.connection]);
    const query = "query ($id: ID!) { node(id: $id) { ... on GitConnection { id host } } }";
    expect(await api.get(query, { id: one.connection?.id })).toEqual({
      node: { id: one.connection?.id, host: "github.com" },
    });
    const replaced = await connectHost(api, "github.com", "newer");
    expect(replaced.connection?.id).not.toBe(one.connection?.id);
    expect(await connections(api)).toEqual([two.connection, replaced.connection]);
    const end = (connectionId = "") => api.change("disconnectGitHost", { connectionId }, "deletedId");
    expect(await end(replaced.connection?.id)).toEqual({
      deletedId: replaced.connection?.id,
      userErrors: [],
    });
    const gone = { code: "NOT_FOUND", message: "There is no such git connection.", path: ["connectionId"] };
    expect(await end(replaced.connection?.id)).toMatchObject({ deletedId: null, userErrors: [gone] });
    expect(await connections(api)).toEqual([two.connection]);
  });

  test("nobody sees or ends another person's connections, admins included", async () => {
    const server = await start();
    const bob = await server.enter("bob");
    const { connection } = await connectHost(bob, "github.com");
    expect(await connections(server.api)).toEqual([]);
    const query = "query ($id: ID!) { node(id: $id) { id } }";
    expect(await server.api.get(query, { id: connection?.id })).toEqual({ node: null });
    const ended = await server.api.change("disconnectGitHost", { connectionId: connection?.id }, "deletedId");
    expect(ended).toMatchObject({ deletedId: null, userErrors: [{ code: "NOT_FOUND" }] });
    expect(await connections(bob)).toEqual([connection]);
    const nobody = new ApiClient(server.api.url, null);
    const { errors } = await nobody.ask("{ viewer { gitConnections { id } } }");
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(["UNAUTHENTICATED"]);
  });

  test("what cannot be a host or a token is refused, and not repeated", async () => {
    const { api } = await start();
    const hosts = [
      "",
      "github.com/ada",
      "ada@github.com",
      "ssh://github.com",
      "two words",
      "x".repeat(10_000),
    ];
    for (const name of hosts) {
      const { connection, userErrors } = await connectHost(api, name);
      expect({ connection, userErrors }).toMatchObject({
        connection: null,
        userErrors: [{ code: "INVALID", path: ["host"] }],
      });
    }
    const tokens = ["", " \n", "two words", "line\nline", "tökén", "zero\u0000", "x".repeat(4_097)];
    for (const token of tokens) {
      const { connection, userErrors } = await connectHost(api, "github.com", token);
      expect({ connection, userErrors }).toMatchObject({
        connection: null,
        userErrors: [{ code: "INVALID", path: ["token"] }],
      });
    }
    expect(await connections(api)).toEqual([]);
    expect((await connectHost(api, "github.com", "x".repeat(4_096))).userErrors).toEqual([]);
  });

  test("a person has at most 50 connections, and may still replace one of them", async () => {
    const { api } = await start();
    for (let i = 0; i < 50; i += 1) await connectHost(api, `git${i}.example`);
    const { userErrors } = await connectHost(api, "one-more.example");
    expect(userErrors).toMatchObject([{ code: "LIMIT_EXCEEDED" }]);
    expect((await connectHost(api, "git7.example")).userErrors).toEqual([]);
    expect(await connections(api)).toHaveLength(50);
  });

  test("two at once for one host leave one connection, which opens", async () => {
    const { api, parley } = await start();
    await Promise.all(Array.from({ length: 8 }, () => connectHost(api, "git.example")));
    expect(await connections(api)).toHaveLength(1);
    const { chatId } = await run(api, "true");
    const parts = { database: parley.database, secrets: new SecretBox([first]), log: createLog("silent") };
    const asked = { chatId, site: "https://git.example" };
    expect(await giveGitCredentials(parts, parley.workspaceId ?? "", asked)).toMatchObject({
      outcome: "given",
    });
  });

  test("a deployment without a key keeps no tokens, and says what its operator has to set", async () => {
    const { api } = await start("");
    const { connection, userErrors } = await connectHost(api, "github.com");
    expect({ connection, userErrors }).toMatchObject({
      connection: null,
      userErrors: [
        { code: "UNAVAILABLE", message: expect.stringContaining("PARLEY_SECRETS_KEYS") as string },
      ],
    });
    expect(await tablesWith(TOKEN)).toEqual([]);
  });

  test("another kind of id is refused by name", async () => {
    const { api } = await start();
    const query =
      "mutation ($input: DisconnectGitHostInput!) { disconnectGitHost(input: $input) { deletedId } }";
    const connectionId = encodeId("ws", "00000000-0000-4000-8000-000000000000");
    const { errors } = await api.ask(query, { input: { connectionId } });
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("connectionId must be the id of a git connection (git_…)"),
    ]);
  });
});
