// A hostile script that the demo model runs looks for secrets that were planted around it, and prints those it finds.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  ADMIN_TOKEN,
  createTestEnvironment,
  databaseUrl,
  type SpawnedParley,
  type TestEnvironment,
} from "../../support/parley.js";
import { SECRETS_KEYS } from "../../support/users/secrets-keys.js";
import { has } from "../../support/requirements.js";

const NOBODY = { uid: 65534, gid: 65534 };

/** In the server's environment. None of them configures anything that the demo model would not do without. */
const CANARIES = {
  AWS_ACCESS_KEY_ID: "canary-aws-id",
  AWS_SECRET_ACCESS_KEY: "canary-aws-secret",
  AWS_SESSION_TOKEN: "canary-aws-session",
  GITHUB_TOKEN: "canary-github",
  NPM_TOKEN: "canary-npm",
  GOOGLE_APPLICATION_CREDENTIALS: "canary-google",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=canary-otel",
  PARLEY_REPLICA_SECRET: "canary-replica-secret",
  npm_config__authToken: "canary-npm-auth",
  SOMETHING_NOBODY_LISTED: "canary-unlisted",
};

/** Its own words are not what it looks for, so that only what it found is printed. */
const SCRIPT = `
look() { grep -aoE '(canary-[a-z-]+|PARLEY_AGENT_TOKEN[=].|${splitWord(ADMIN_TOKEN)}|${splitWord(SECRETS_KEYS)})' | sort -u; }
{
  env
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline
} 2>/dev/null | look
echo finished
`;

/** A pattern that matches the word and not itself. */
function splitWord(word: string): string {
  return `[${word.charAt(0)}]${word.slice(1).replace(/[+/.]/g, "[$&]")}`;
}

let environment: TestEnvironment;
beforeEach(async () => {
  environment = await createTestEnvironment();
  await writeFile(join(environment.repository.folder, "look.sh"), SCRIPT);
});
afterEach(() => environment.remove());

async function start(account?: { uid: number; gid: number }): Promise<SpawnedParley> {
  const { database, repository } = environment;
  if (account) execFileSync("chown", ["-R", String(account.uid), repository.folder]);
  const url = new URL(databaseUrl(database.options));
  url.searchParams.set("application_name", "canary-database");
  return environment.spawn({ ...CANARIES, DATABASE_URL: url.href }, undefined, account);
}

async function found({ api }: SpawnedParley): Promise<unknown> {
  const chatId = await api.createChat("run `sh look.sh`");
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  const chat = await api.chat(chatId);
  return chat?.messages.nodes.find(({ role }) => role === "TOOL")?.parts[0]?.result;
}

test("a script finds no secret in environments and arguments of processes", async () => {
  const server = await start();
  expect(await found(server)).toMatchObject({ output: "finished\n" });
});

test.skipIf(!has("root"))("nor does it as an ordinary user", async () => {
  const server = await start(NOBODY);
  expect(await found(server)).toMatchObject({ output: "finished\n" });
});

test.skipIf(process.platform !== "linux")(
  "the server's initial environment is blank from the first line on, and it still ends gracefully",
  async () => {
    const server = await start();
    const shown = readFileSync(`/proc/${server.child.pid}/environ`);
    expect({ length: shown.length > 0, isBlank: shown.every((byte) => byte === 0) }).toEqual({
      length: true,
      isBlank: true,
    });
    expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
  },
);
