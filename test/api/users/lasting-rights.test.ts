// Rights that are lost while a stream is open, in the real server with a clock of the test's.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAgents } from "../../../src/compose/agents.js";
import { openCore } from "../../../src/compose/core.js";
import { Closers } from "../../../src/compose/closers.js";
import { openApi } from "../../../src/compose/api.js";
import { readConfig } from "../../../src/config/config.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { createLog } from "../../../src/lib/log.js";
import { createToken } from "../../../src/store/users/tokens.js";
import { createUser } from "../../../src/store/users/users.js";
import { ManualClock } from "../../http/support.js";
import { AGENT_PROGRAM } from "../../support/build.js";
import { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { StreamFollower } from "../../support/clients/stream-follower.js";
import { SECRETS_KEYS } from "../../support/users/secrets-keys.js";

let environment: TestEnvironment;
/** Creates the chats and runs their turns. */
let server: TestParley;
/** Uses the test's clock. */
let endpoint: { url: string; clock: ManualClock; close(): Promise<void> };
beforeEach(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  endpoint = await openEndpoint();
});
afterEach(async () => {
  await endpoint.close();
  await environment.remove();
});

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
  const opened = await openApi(core, agents, closers);
  await core.seeding.run();
  return { url: opened.url, clock, close: () => closers.closeAll() };
}

async function enterAdmin(): Promise<{ api: ApiClient; userId: string }> {
  const user = await createUser(server.parley.database, { username: "root", name: "Root", role: "admin" });
  if (!user) throw new Error("There is already a root.");
  const { token } = await createToken(server.parley.database, { userId: user.id, name: "test" });
  return { api: new ApiClient(endpoint.url, token), userId: user.id };
}

async function chatAtRest(api: ApiClient): Promise<string> {
  const { chatId, follower } = await api.quietChat();
  await follower.close();
  return chatId;
}

const isCaughtUp = (transcript: { isCaughtUp: boolean }) => transcript.isCaughtUp;

test("a demoted admin loses access to other users' chats within a minute, and keeps their own", async () => {
  const { api: admin, userId } = await enterAdmin();
  const others = await chatAtRest(server.api);
  const own = await chatAtRest(new ApiClient(server.api.url, admin.token));
  const streams = [await StreamFollower.open(admin, others), await StreamFollower.open(admin, own)] as const;
  await Promise.all(streams.map((stream) => stream.until(isCaughtUp)));
  await server.parley.database.query(
    { name: "demote", text: "UPDATE users SET role = 'member' WHERE id = $1" },
    [userId],
  );
  endpoint.clock.advance(60_000);
  await streams[0].untilEnd();
  expect(streams[0].errors).toEqual(["FORBIDDEN"]);
  const input = { chatId: own, title: "Mine" };
  await new ApiClient(server.api.url, admin.token).change("updateChat", input, "chat { id }");
  // Without Redis, events from the other server arrive with the sweep.
  const renamed = streams[1].until(({ log }) => log.includes("title"));
  endpoint.clock.advance(10_000);
  await renamed;
  streams[1].stream.leave();
});

test("a chat that changes its owner ends the former owner's subscription", async () => {
  const ada = await server.addUser("ada");
  const client = new ApiClient(endpoint.url, ada.token);
  const chatId = await chatAtRest(ada);
  const stream = await StreamFollower.open(client, chatId);
  await stream.until(isCaughtUp);
  const give =
    "UPDATE chats SET owner_id = (SELECT id FROM users WHERE username <> 'ada' LIMIT 1) WHERE id = $1";
  await server.parley.database.query({ name: "give", text: give }, [decodeId("chat", chatId)]);
  endpoint.clock.advance(60_000);
  await stream.untilEnd();
  expect(stream.errors).toEqual(["FORBIDDEN"]);
});
