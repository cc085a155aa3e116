// Rotation of a deployment's key under use: no request fails, and the old key is no longer needed.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setInterval as ticks } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SecretBox } from "../../../src/store/common/secret-box.js";
import {
  SECRET_COLUMNS,
  type SecretColumn,
  type SecretColumnOf,
  columnReference,
} from "../../../src/store/common/secret-columns.js";
import { SERVER_PROGRAM } from "../../support/build.js";
import {
  type Connected,
  connectHost,
  createGitDeployment,
  type GitDeployment,
  type GitServer,
  tablesWith,
} from "../../support/git/git-deployment.js";
import { insertSealedRows } from "../../support/database/sealed-rows.js";

// Starts ten servers and runs twice as many turns.
vi.setConfig({ testTimeout: 600_000 });

/** Between the requests of one client: without it they keep a core busy for as long as servers restart. */
const LOAD_INTERVAL_MS = 25;
const TOKEN = `token_${randomBytes(20).toString("hex")}`;
const keyOf = (id: string) => ({ id, bytes: randomBytes(32) });
const written = (...keys: { id: string; bytes: Buffer }[]) =>
  keys.map(({ id, bytes }) => `${id}:${bytes.toString("base64")}`).join(",");
const [old, fresh] = [keyOf("old"), keyOf("fresh")];

let deployment: GitDeployment;
beforeEach(async () => {
  deployment = await createGitDeployment(TOKEN);
});
afterEach(() => deployment.remove());

/** `parley secrets …` as operators run it. */
async function runSecrets(
  verb: string,
  keys: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: deployment.databaseUrl,
    PARLEY_SECRETS_KEYS: keys,
    PARLEY_LOG_LEVEL: "warn",
  };
  const options = { env, cwd: deployment.workspace };
  return promisify(execFile)(process.execPath, [SERVER_PROGRAM, "secrets", verb], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failure: { code: number; stdout: string; stderr: string }) => ({
      code: failure.code,
      stdout: failure.stdout,
      stderr: failure.stderr,
    }),
  );
}

/** Two servers behind one address: requests that fail because one is being restarted go to the other. */
class Deployment {
  #servers: GitServer[] = [];

  async start(keys: string): Promise<void> {
    this.#servers = [await deployment.start(keys), await deployment.start(keys)];
  }

  /** Restarts one after the other, so that at least one is always available. */
  async restart(keys: string): Promise<void> {
    for (const which of [0, 1]) {
      const before = this.#servers[which];
      this.#servers[which] = await deployment.start(keys);
      await before?.parley.close();
    }
  }

  /** Retries only after connection errors; every response is final. */
  async connect(host: string, first: number): Promise<Connected> {
    for (let attempt = 0; ; attempt += 1) {
      const server = this.#servers[(first + attempt) % 2];
      try {
        if (server) return await connectHost(server.api, host, TOKEN);
      } catch (error) {
        if (!(error instanceof TypeError) || attempt > 10) throw error;
      }
    }
  }

  /** Runs git in a chat on each server, which reads a token stored before the rotation. */
  async useTokens(stage: string): Promise<string[]> {
    const uses = this.#servers.map(async ({ api }, which) => {
      const command = `git ls-remote ${deployment.host.repositoryUrl} main >/dev/null && echo ${stage} ${which}`;
      return (await deployment.run(api, command)).output;
    });
    return Promise.all(uses);
  }
}

test("a key is rotated under load: nothing fails, everything decrypts with the new key, the old one is used nowhere", async ({
  annotate,
}) => {
  const replicas = new Deployment();
  await replicas.start(written(old));
  const box = new SecretBox([old]);
  const rows = await insertSealedRows((text, values) => deployment.query(text, values), box);
  await replicas.connect(deployment.host.url, 0);
  const answers = { good: 0, bad: [] as unknown[] };
  let isOver = false;
  const loads = Array.from({ length: 4 }, async (_, load) => {
    let turn = 0;
    for await (const _tick of ticks(LOAD_INTERVAL_MS)) {
      if (isOver) break;
      turn += 1;
      const { connection, userErrors } = await replicas.connect(`git${load}-${turn % 7}.example`, turn % 2);
      if (connection === null) answers.bad.push(userErrors);
      else answers.good += 1;
    }
  });
  const used: string[] = [];
  let rotation = { code: -1, stdout: "", stderr: "" };
  const stages: [string, () => Promise<unknown>][] = [
    ["before", () => Promise.resolve()],
    ["readable", () => replicas.restart(written(old, fresh))],
    ["writing", () => replicas.restart(written(fresh, old))],
    ["rotated", async () => (rotation = await runSecrets("rotate", written(fresh, old)))],
    ["alone", () => replicas.restart(written(fresh))],
  ];
  const goodAfter: number[] = [];
  for (const [stage, act] of stages) {
    await act();
    used.push(...(await replicas.useTokens(stage)));
    goodAfter.push(answers.good);
  }
  isOver = true;
  await Promise.all(loads);
  expect(used).toEqual(stages.flatMap(([stage]) => [`${stage} 0\n`, `${stage} 1\n`]));
  expect(answers.bad).toEqual([]);
  expect(rotation).toMatchObject({ code: 0, stderr: "" });
  const renewed = sumOfRewrapped(rotation.stdout);
  // At least the values that were not rewritten meanwhile.
  expect(renewed).toBeGreaterThanOrEqual(rows + 1);
  await annotate(
    `${answers.good} requests went well, ${answers.bad.length} failed; ${renewed} values re-encrypted`,
  );
  // Requests were served in every stage.
  expect(goodAfter).toEqual([...new Set(goodAfter)].sort((one, other) => one - other));
  expect(await tablesWith(deployment, "v1.old.")).toEqual([]);
  const opened = await openAll(new SecretBox([fresh]));
  expect(opened.filter(({ kind }) => kind !== "opened")).toEqual([]);
  expect(opened.length).toBe(rows + 1 + 28);
  const status = await runSecrets("status", written(fresh));
  expect(status.stdout.split("\n").filter((line) => /\bold\b|NOT CONFIGURED/.test(line))).toEqual([]);
  expect(status.stdout).toMatch(/git_connections\.token +fresh +30 +encrypts/);
});

test("unreadable secrets are reported and left as they are, and the rest is rotated", async () => {
  const lost = keyOf("lost");
  const server = await deployment.start(written(lost, old));
  await connectHost(server.api, "lost.example", TOKEN);
  await server.parley.close();
  await insertSealedRows((text, values) => deployment.query(text, values), new SecretBox([old]));
  const before = await deployment.query("SELECT id, token FROM git_connections WHERE host = 'lost.example'");
  const run = await runSecrets("rotate", written(fresh, old));
  const [row] = before as { id: string }[];
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/^git_connections\.token +1 +0 +1$/m);
  expect(run.stderr).toContain(
    `git_connections.token of the row ${row?.id} cannot be read: it was encrypted with the key lost, which is not configured.`,
  );
  expect(run.stdout + run.stderr).not.toMatch(/v1\.|token_/);
  expect(await deployment.query("SELECT id, token FROM git_connections WHERE host = 'lost.example'")).toEqual(
    before,
  );
  expect(await tablesWith(deployment, "v1.old.")).toEqual([]);
  const again = await runSecrets("rotate", written(fresh, old));
  expect(again.stdout).toMatch(/^git_connections\.token +0 +1 +1$/m);
  const log = await deployment.query("SELECT actor_id, actor_name, action, changes FROM audit_log");
  expect(log).toEqual([
    {
      actor_id: null,
      actor_name: "operator",
      action: "secrets_rotated",
      changes: { keyId: { before: null, after: "fresh" } },
    },
  ]);
});

test("parley secrets generates valid keys, each a different one", async () => {
  const made = await Promise.all([runSecrets("new-key", ""), runSecrets("new-key", "")]);
  expect(
    made.map(({ code, stdout }) => ({ code, isKey: /^\d{8}-[0-9a-f]{6}:[\w+/]{43}=\n$/.test(stdout) })),
  ).toEqual([
    { code: 0, isKey: true },
    { code: 0, isKey: true },
  ]);
  expect(made[0]?.stdout).not.toBe(made[1]?.stdout);
  const key = made[0]?.stdout.trim() ?? "";
  expect(await runSecrets("status", key)).toMatchObject({
    code: 0,
    stdout: "There are no secrets in the database.\n",
  });
  expect((await runSecrets("rotate", "")).stderr).toContain("PARLEY_SECRETS_KEYS is not");
});

/** Sum over all columns of the printed table. */
function sumOfRewrapped(output: string): number {
  const counts = [...output.matchAll(/^\w+\.\w+ +(\d+) /gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Decrypts every sealed value of the database with its column reference. */
async function openAll(box: SecretBox) {
  const opened = SECRET_COLUMNS.map(async (listed: SecretColumn) => {
    const { table, column, id } = listed;
    const text = `SELECT ${id} AS id, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`;
    const rows = (await deployment.query(text)) as { id: string; sealed: string }[];
    return rows.map((row) =>
      box.open(row.sealed, columnReference(table, column as SecretColumnOf<typeof table>, row.id)),
    );
  });
  return (await Promise.all(opened)).flat();
}
