// A chat's repositories through the API, with a real server, agent and repository, compared with git run by hand.
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "graphql-ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openAgents } from "../../../src/compose/agents.js";
import { Closers } from "../../../src/compose/closers.js";
import { openCore } from "../../../src/compose/core.js";
import { openApi } from "../../../src/compose/api.js";
import { readConfig } from "../../../src/config/config.js";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { decodeId, encodeId } from "../../../src/domain/common/ids.js";
import { createLog } from "../../../src/lib/log.js";
import {
  createAgentToken,
  createExternalWorkspace,
} from "../../../src/store/workspaces/external-workspaces.js";
import { findOldestAdmin } from "../../../src/store/users/users.js";
import { hashAgentToken } from "../../../src/workspaces/tunnels/requests.js";
import { diffByHand, makeRepository, write } from "../../agent/git/git-support.js";
import { AGENT_PROGRAM } from "../../support/build.js";
import { makeFolder } from "../../agent/support.js";
import { ManualClock } from "../../http/support.js";
import { ApiClient, type ApiError } from "../../support/clients/api-client.js";
import { EventStreamReader } from "../../support/clients/event-stream-reader.js";
import { startDialingAgent } from "../../support/workspaces/dialing-agent.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { SECRETS_KEYS } from "../../support/users/secrets-keys.js";

let environment: TestEnvironment;
let server: TestParley;
let model: GatedModel;
let steps: ScriptStep[] = [];
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel(() => steps.shift());
  server = await environment.start(model.settings);
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

type Repository = {
  root: string;
  branch: string | null;
  remoteOrigin: string | null;
  unifiedDiff: string;
  isTruncated: boolean;
};
type Snapshot = { repositories: Repository[]; scannedAt: string };
const FIELDS = "repositories { root branch remoteOrigin unifiedDiff isTruncated } scannedAt";
const DOCUMENT = `subscription ($chatId: ID!) { gitSnapshots(chatId: $chatId) { ${FIELDS} } }`;

/** One subscription. Each event replaces the previous state. */
class Follower {
  newest: Snapshot | null = null;
  readonly errors: unknown[] = [];
  readonly #client: Client;
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(api: ApiClient, chatId: string) {
    this.#client = createClient({
      url: `${api.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: api.token },
      retryAttempts: 0,
    });
    void this.#read(chatId);
  }

  async until(isSo: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    for (;;) {
      if (this.newest && isSo(this.newest)) return this.newest;
      if (this.#hasEnded) throw new Error(`The stream ended: ${JSON.stringify(this.errors)}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async untilEnd(): Promise<unknown[]> {
    while (!this.#hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.errors;
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }

  async #read(chatId: string): Promise<void> {
    try {
      const query = { query: DOCUMENT, variables: { chatId } };
      for await (const { data, errors } of this.#client.iterate<{ gitSnapshots: Snapshot }>(query)) {
        if (errors) this.errors.push(...errors.map(({ extensions }) => extensions?.["code"]));
        if (data) this.newest = data.gitSnapshots;
        this.#wake();
      }
    } catch (failure) {
      // Refusals are lists of errors; any other failure is a closed connection.
      const refusals = Array.isArray(failure) ? (failure as ApiError[]) : [];
      this.errors.push(...refusals.map(({ extensions }) => extensions.code));
    }
    this.#hasEnded = true;
    this.#wake();
  }
}

/** A chat that has run a command in each of these folders. */
async function chatIn(folders: string[], command = "true"): Promise<string> {
  const toolCalls = folders.map((workdir, index) => ({
    ...{ id: `call-${index}`, name: "execute", arguments: { command, workdir } },
  }));
  steps = [{ text: "Ready." }, { toolCalls }, { text: "Done." }];
  const { chatId, follower } = await server.api.quietChat({ workspaceId: server.workspaceId });
  await server.api.send(chatId, "go");
  await follower.until(({ log }) => log.at(-1)?.startsWith("status WAITING") ?? false);
  await follower.close();
  return chatId;
}

async function readGit(api: ApiClient, chatId: string): Promise<Snapshot | null> {
  const query = `query ($chatId: ID!) { chat(id: $chatId) { git { ${FIELDS} } } }`;
  return (await api.get<{ chat: { git: Snapshot | null } }>(query, { chatId })).chat.git;
}

const refresh = (api: ApiClient, chatId: string) =>
  api.change<{ git: Snapshot | null; userErrors: { code: string; path: string[] | null }[] }>(
    "refreshChatGit",
    { chatId },
    `git { ${FIELDS} }`,
  );

/** 10 MB of text, the same on every run. */
function longText(): string {
  return Array.from({ length: 150_000 }, (_, index) => {
    const hash = createHash("md5").update(String(index)).digest("hex");
    return `${hash}${hash}\n`;
  }).join("");
}

test("a repository with worktrees, submodules, renamed, binary and 10 MB files is reported as git does", async () => {
  const { folder, git } = environment.repository;
  const library = join(folder, "../", `${folder.split("/").at(-1)}-library`);
  const tree = `${folder}-tree`;
  const heavy = `${folder}-heavy`;
  try {
    const long = longText();
    const binary = Buffer.alloc(10_000_000, "\0\x01\x02");
    await write(folder, { "long.txt": long, "binary.bin": binary, "small.bin": Buffer.from([0, 1, 2]) });
    await write(folder, { "will be renamed.txt": long.slice(0, 5_000), "will go.txt": "gone\n" });
    await git("add", "--all");
    await git("commit", "--quiet", "--message=Files of all kinds");
    await mkdir(library);
    await git("worktree", "add", "--quiet", "-b", "library", library);
    const adding = ["submodule", "--quiet", "add", "--branch", "library", folder, "vendor/library"];
    await git("-c", "protocol.file.allow=always", ...adding);
    await git("commit", "--quiet", "--message=A submodule");
    await git("worktree", "add", "--quiet", "-b", "tree", tree);
    await git("worktree", "add", "--quiet", "-b", "heavy", heavy);
    await git("remote", "add", "origin", "https://ada:token@host.example/greeter.git");
    // Now a user changes files by hand.
    await write(folder, { "long.txt": long.replace(long.slice(65, 97), "changed in the second line") });
    await write(folder, { "binary.bin": Buffer.concat([binary, binary]), "new.bin": binary });
    await git("mv", "will be renamed.txt", "renamed.txt");
    await git("rm", "--quiet", "will go.txt");
    await write(folder, { "src/greet.js": "export const greet = 'staged';\n" });
    await git("add", "src/greet.js");
    await write(folder, { "src/greet.js": "export const greet = 'not staged';\n", "new file.txt": "new\n" });
    await write(join(folder, "vendor/library"), {
      "README.md": "# Changed\n",
      "untracked.txt": "untracked\n",
    });
    await write(tree, { "README.md": "# In a worktree\n" });
    await write(heavy, { "untracked.txt": long });

    const roots = [folder, heavy, tree, join(folder, "vendor/library")].sort();
    const follower = new Follower(server.api, await chatIn(roots));
    const folded = await follower.until(({ repositories }) => repositories.length === roots.length);
    await follower.close();

    const branches = new Map([
      [folder, "main"],
      [heavy, "heavy"],
      [tree, "tree"],
      [join(folder, "vendor/library"), "library"],
    ]);
    const byHand = await Promise.all(roots.map(diffByHand));
    expect(folded.repositories.map(({ root, branch }) => [root, branch])).toEqual(
      roots.map((root) => [root, branches.get(root)]),
    );
    for (const [index, { root, unifiedDiff, isTruncated, remoteOrigin }] of folded.repositories.entries()) {
      const isHeavy = root === heavy;
      const isSame = unifiedDiff === byHand[index];
      const isSubmodule = root.endsWith("vendor/library");
      expect({ root, isSame, isTruncated, remoteOrigin }).toEqual({
        ...{ root, isSame: !isHeavy, isTruncated: isHeavy },
        remoteOrigin: isSubmodule ? folder : "https://host.example/greeter.git",
      });
    }
    const whole = byHand[roots.indexOf(folder)] ?? "";
    expect(whole).toContain("rename from will be renamed.txt\nrename to renamed.txt\n");
    expect(whole).toContain("Binary files a/binary.bin and b/binary.bin differ\n");
    expect(whole).toMatch(/^\+Subproject commit [0-9a-f]{40}-dirty$/m);
    expect(whole).toContain("+changed in the second line");
    expect(whole).not.toContain("unstaged");
  } finally {
    await Promise.all([library, tree, heavy].map((path) => rm(path, { recursive: true, force: true })));
    await git("worktree", "prune");
    await git("reset", "--quiet", "--hard");
    await git("clean", "--quiet", "-ffdx");
  }
});

test("a chat's changes reach its subscribers, and a query and a refresh return the same", async () => {
  const { folder } = environment.repository;
  const chatId = await chatIn([folder]);
  const followers = [new Follower(server.api, chatId), new Follower(server.api, chatId)];
  await Promise.all(followers.map((it) => it.until(() => true)));
  await write(folder, { "notes.txt": "by another user\n" });
  const refreshed = await refresh(server.api, chatId);
  const diff = await diffByHand(folder);
  const hasChanged = ({ repositories }: Snapshot) => repositories[0]?.unifiedDiff === diff;
  const received = await Promise.all(followers.map((it) => it.until(hasChanged)));
  const read = await readGit(server.api, chatId);
  await Promise.all(followers.map((it) => it.close()));
  const repositories = refreshed.git?.repositories;
  expect([refreshed.userErrors, repositories?.length, repositories?.[0]?.unifiedDiff]).toEqual([[], 1, diff]);
  expect([...received, read].map((it) => it?.repositories)).toEqual([
    repositories,
    repositories,
    repositories,
  ]);
});

test("a chat without a workspace has no repositories", async () => {
  steps = [{ text: "Ready." }];
  const { chatId, follower } = await server.api.quietChat({ workspaceId: null });
  await follower.close();
  const snapshots = new Follower(server.api, chatId);
  const { repositories } = await snapshots.until(() => true);
  await snapshots.close();
  const { git, userErrors } = await refresh(server.api, chatId);
  expect([repositories, await readGit(server.api, chatId), git, userErrors]).toEqual([
    [],
    null,
    null,
    [expect.objectContaining({ code: "INVALID", path: ["chatId"] })],
  ]);
});

test("users cannot see the repositories of another user's chat", async () => {
  const chatId = await chatIn([environment.repository.folder]);
  const ada = await server.addUser("ada");
  const snapshots = new Follower(ada, chatId);
  const errors = await snapshots.untilEnd();
  await snapshots.close();
  const { git, userErrors } = await refresh(ada, chatId);
  expect([errors, git, userErrors]).toEqual([
    ["FORBIDDEN"],
    null,
    [expect.objectContaining({ code: "NOT_FOUND", path: ["chatId"] })],
  ]);
});

test("the repositories of a workspace whose agent dials out are reported, even after its agent was replaced", async () => {
  const folder = await makeFolder();
  const { parley, api } = server;
  const owner = await findOldestAdmin(parley.database);
  const token = createAgentToken();
  const wanted = { ownerId: owner?.id ?? "", name: "far away", tokenHash: hashAgentToken(token) };
  const workspaceId = encodeId("ws", (await createExternalWorkspace(parley.database, wanted)) ?? "");
  const caller = () =>
    startDialingAgent({ token, directory: folder, servers: [api.url.replace("http", "ws")] });
  await makeRepository(folder);
  const callers = [caller()];
  try {
    await callers[0]?.untilOutput(1);
    steps = [{ text: "Ready." }];
    const { chatId, follower } = await api.quietChat({ workspaceId });
    await follower.close();
    const long = longText().slice(0, 2_000_000);
    await write(folder, { "long.txt": long });
    const snapshots = new Follower(api, chatId);
    const is = (diff: string) => (it: Snapshot) => it.repositories[0]?.unifiedDiff === diff;
    await snapshots.until(is(await diffByHand(folder)));
    await callers[0]?.end("SIGKILL");
    await write(folder, { "long.txt": "short\n" });
    callers.push(caller());
    const { repositories } = await snapshots.until(is(await diffByHand(folder)));
    await snapshots.close();
    expect(repositories.map(({ root }) => root)).toEqual([folder]);
  } finally {
    await Promise.all(callers.map((it) => it.end("SIGKILL")));
    await rm(folder, { recursive: true });
  }
});

/** An API endpoint on the same database with a manual clock. */
async function openEndpoint() {
  const log = createLog("silent");
  const closers = new Closers(log);
  const { url, host, port, user, database } = environment.database.options;
  const DATABASE_URL =
    url ?? `postgres://${user}@${encodeURIComponent(host ?? "localhost")}:${port}/${database}`;
  const config = readConfig(
    { DATABASE_URL, PARLEY_SECRETS_KEYS: SECRETS_KEYS, PARLEY_PORT: "0", PARLEY_TITLES: "off" },
    process.cwd(),
  );
  const clock = new ManualClock();
  const core = { ...(await openCore(config, log, closers)), clock };
  const agents = await openAgents(core, closers, { agentCommand: [process.execPath, AGENT_PROGRAM] });
  const http = await openApi(core, agents, closers);
  await core.seeding.run();
  return { url: http.url, clock, close: () => closers.closeAll() };
}

test("losing access to a chat ends the subscription to its repositories", async () => {
  const eve = await server.addUser("eve");
  const chatId = await eve.createChat("[[demo: deltas=1]]");
  const endpoint = await openEndpoint();
  try {
    const request = { token: eve.token, variables: { chatId } };
    const stream = await EventStreamReader.open(
      { streamUrl: `${endpoint.url}/graphql/stream` },
      DOCUMENT,
      request,
    );
    const first = await stream.next();
    const give =
      "UPDATE chats SET owner_id = (SELECT id FROM users WHERE username <> 'eve' LIMIT 1) WHERE id = $1";
    await server.parley.database.query({ name: "give", text: give }, [decodeId("chat", chatId)]);
    endpoint.clock.advance(60_000);
    const rest = await stream.rest();
    const codes = rest.flatMap(({ data }) => (data as { errors?: ApiError[] } | null)?.errors ?? []);
    expect([first?.event, codes.map(({ extensions }) => extensions.code)]).toEqual(["next", ["FORBIDDEN"]]);
  } finally {
    await endpoint.close();
  }
});
