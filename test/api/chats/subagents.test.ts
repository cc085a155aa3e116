// Subagents through the public API: real servers that are killed, a real agent, and a real repository.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { decodeId } from "../../../src/domain/common/ids.js";
import { calls, playing, type Play } from "../../support/workspaces/agent-script.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { startGatedModel, type GatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { textOf } from "../../support/clients/transcript.js";
import { eventually } from "../../support/eventually.js";

type Call = Parameters<typeof calls>[number];

let environment: TestEnvironment;
let redis: TestRedis | undefined;
let model: GatedModel | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.stop());
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(async () => {
  model?.clock.open();
  await environment.remove();
  await model?.close();
});

/** Settings of servers that use a scripted model, which pauses at its slow steps until the test's clock opens. */
async function modelOf(plays: Record<string, Play>): Promise<Record<string, string>> {
  model = await startGatedModel(playing(plays));
  return model.settings;
}

type Shown = {
  id: string;
  title: string;
  status: string;
  archivedAt: string | null;
  subagentKind: string | null;
  isUnread: boolean;
  parent: { id: string } | null;
  root: { id: string };
  cost: { tokens: { input: string } };
};
const SHOWN = `id title status archivedAt subagentKind isUnread parent { id } root { id }
  cost { tokens { input } }`;

async function familyOf(api: ApiClient, id: string): Promise<{ chat: Shown; subagents: Shown[] }> {
  const query = `query ($id: ID!) { chat(id: $id) { ${SHOWN} subagents { ${SHOWN} } } }`;
  const { chat } = await api.get<{ chat: Shown & { subagents: Shown[] } }>(query, { id });
  const { subagents, ...own } = chat;
  return { chat: own, subagents };
}

async function listed(api: ApiClient, includeSubagents?: boolean): Promise<string[]> {
  const query = `query ($filter: ChatFilterInput) { chats(filter: $filter) { nodes { id } } }`;
  const filter = { ...(includeSubagents !== undefined && { includeSubagents }) };
  const { chats } = await api.get<{ chats: { nodes: { id: string }[] } }>(query, { filter });
  return chats.nodes.map(({ id }) => id);
}

const PARTS = ["one", "two", "three"];

/** Writes a file, reads it with a command that leaves a trace, and reports once the model's clock opens. */
function writer(part: string, reports: () => void): Play {
  return [
    () => calls(["write_file", { path: `${part}.txt`, content: `Part ${part} of the work.` }]),
    () => calls(["execute", { command: `echo run >> ${part}.log; cat ${part}.txt` }]),
    ({ results }) => {
      reports();
      return { text: ["I wrote: ", results.at(-1)?.["output"] ?? ""], delayMs: 1 };
    },
  ];
}

const WHOLE: Play = [
  () =>
    calls(...PARTS.map((part): Call => ["spawn_agent", { prompt: `Part ${part}`, title: `Write ${part}` }])),
  ({ agents }) => calls(...agents.map((id): Call => ["wait_agent", { chat_id: id }])),
  ({ results }) => ({ text: results.flatMap(({ report }) => report ?? []).join("\n") }),
];

/** Resolves when every running chat is claimed by a worker with a valid lease. */
async function untilAllAreClaimed(): Promise<void> {
  const lost = `SELECT 1 FROM chats c LEFT JOIN worker_leases l ON l.worker_id = c.worker_id AND l.expires_at > now()
    WHERE c.status <> 'waiting' AND l.worker_id IS NULL`;
  await eventually(async () => expect(await environment.database.dataSource.query(lost)).toEqual([]));
}

test("three subagents edit files while two servers are killed; the report is complete and costs add up", async () => {
  const asked: string[] = [];
  const settings = {
    ...(await modelOf({
      Go: WHOLE,
      ...Object.fromEntries(PARTS.map((it) => [`Part ${it}`, writer(it, () => void asked.push(it))])),
    })),
    ...{ PARLEY_LEASE_MS: "4000", PARLEY_HEARTBEAT_MS: "400", REDIS_URL: redis?.url ?? "" },
  };
  const [first, second] = [await environment.spawn(settings), await environment.spawn(settings)];
  const chatId = await first.api.createChat("Go");
  await eventually(() => expect(new Set(asked).size).toBe(3));
  await first.end("SIGKILL");
  const third = await environment.spawn(settings);
  await untilAllAreClaimed();
  await second.end("SIGKILL");
  await untilAllAreClaimed();
  model?.clock.open();
  const follower = third.api.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();

  const { chat, subagents } = await familyOf(third.api, chatId);
  const shown = await third.api.chat(chatId);
  expect(shown?.messages.nodes.slice(-1).map(textOf)).toEqual([
    PARTS.map((part) => `I wrote: Part ${part} of the work.`).join("\n"),
  ]);
  expect(
    subagents.map(({ title, status, subagentKind, parent, root }) => ({
      title,
      status,
      subagentKind,
      parent,
      root,
    })),
  ).toEqual(
    PARTS.map((part) => ({
      ...{ title: `Write ${part}`, status: "WAITING", subagentKind: "GENERAL" },
      ...{ parent: { id: chatId }, root: { id: chatId } },
    })),
  );
  const { folder } = environment.repository;
  const files = await Promise.all(
    PARTS.map(async (part) => [
      await readFile(join(folder, `${part}.txt`), "utf8"),
      await readFile(join(folder, `${part}.log`), "utf8"),
    ]),
  );
  // Commands run at least once: again if a server was killed before it saved the result.
  const traces = expect.stringMatching(/^(run\n)+$/) as string;
  expect(files).toEqual(PARTS.map((part) => [`Part ${part} of the work.`, traces]));

  const used = await inputsIn([chatId, ...subagents.map(({ id }) => id)]);
  const costs = [chat, ...subagents].map(({ cost }) => Number(cost.tokens.input));
  expect(costs).toEqual([used.reduce((sum, it) => sum + it, 0), ...used.slice(1)]);
});

test("lists include subagents on demand, they are never unread, and families are archived and interrupted together", async () => {
  const server = await environment.start(
    await modelOf({ Go: WHOLE, Part: [() => ({ text: ["Not", "yet"], delayMs: 1 })] }),
  );
  const { api } = server;
  const chatId = await api.createChat("Go");
  await eventually(async () => expect((await familyOf(api, chatId)).subagents.length).toBe(3));
  const ids = (await familyOf(api, chatId)).subagents.map(({ id }) => id);
  expect([await listed(api), (await listed(api, true)).toSorted()]).toEqual([
    [chatId],
    [chatId, ...ids].toSorted(),
  ]);

  await api.change("interruptChat", { chatId }, "chat { id }");
  await eventually(async () => expect(await states()).toEqual(["WAITING", "WAITING", "WAITING", "WAITING"]));
  await api.change("archiveChat", { chatId }, "chat { id }");
  const away = await family();
  type Refused = { userErrors: { code: string; message: string }[] };
  const refused = await api.change<Refused>("unarchiveChat", { chatId: ids[0] }, "chat { id }");
  await api.change("unarchiveChat", { chatId }, "chat { id }");
  const back = await family();
  expect({
    away: away.map(({ archivedAt }) => archivedAt !== null),
    refused: refused.userErrors.map(({ code }) => code),
    back: back.map(({ archivedAt, isUnread }) => [archivedAt, isUnread]),
  }).toEqual({
    away: [true, true, true, true],
    refused: ["CONFLICT"],
    back: [
      [null, true],
      [null, false],
      [null, false],
      [null, false],
    ],
  });

  async function family(): Promise<Shown[]> {
    const { chat, subagents } = await familyOf(api, chatId);
    return [chat, ...subagents];
  }
  async function states(): Promise<string[]> {
    return (await family()).map(({ status }) => status);
  }
});

/** The usage of all calls of each chat, including those of killed servers that left no response. */
async function inputsIn(ids: string[]): Promise<number[]> {
  const slow = `SELECT coalesce(sum(m.input_tokens), 0)::int AS used
    FROM unnest($1::uuid[]) WITH ORDINALITY AS c(id, place) LEFT JOIN chat_messages m ON m.chat_id = c.id
    GROUP BY c.place ORDER BY c.place`;
  const chatIds = ids.map((id) => decodeId("chat", id));
  const rows: { used: number }[] = await environment.database.dataSource.query(slow, [chatIds]);
  return rows.map(({ used }) => used);
}
