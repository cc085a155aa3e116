// The output of a running command, as seen by all subscribers of a chat.
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.js";
import { spawnAgent } from "../../../src/workspaces/provisioners/agent-process.js";
import { agentCommand } from "../../agent/support.js";
import { Follower } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis } from "../../support/network/redis.js";
import { type Line, startStagedModel } from "../../support/models/staged-model.js";
import { textOf, type Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(async () => {
  await environment.remove();
  for (const end of ends.splice(0)) await end();
});

/** A request for a command that prints output, waits, and continues after `goOn()`. */
function gatedCommand(before: string, after: string) {
  const gate = join(environment.repository.folder, "gate");
  const wait = "until [ -e gate ]; do sleep 0.1; done";
  return { request: `run \`${before}; ${wait}; ${after}\``, goOn: () => appendFile(gate, "") };
}

/** The output of the running tools so far, as received by a follower. */
const outputOf = ({ preview }: Transcript) => [...(preview?.outputs.values() ?? [])].join("|");

const outputs = (transcript: Transcript) =>
  transcript.log.filter((name) => name === "part TOOL ToolOutputDelta").length;

async function shownResults(api: Follower["api"], chatId: string) {
  const chat = await api.chat(chatId);
  return chat?.messages.nodes.map(({ role, parts }) => [role, parts.map(({ result }) => result ?? null)]);
}

test("a running command's output is streamed, also to late subscribers, and replaced by its result", async () => {
  const server = await environment.start();
  const { request, goOn } = gatedCommand("echo one; sleep 0.5; echo two", "echo three");
  const chatId = await server.api.createChat(request);
  const early = server.api.follow(chatId);
  await early.until((transcript) => outputOf(transcript) === "one\ntwo\n");
  const late = server.api.follow(chatId);
  await late.until((transcript) => outputOf(transcript) === "one\ntwo\n" && transcript.isCaughtUp);
  await goOn();
  for (const follower of [early, late]) await follower.untilStatus("WAITING");
  const shown = await server.api.chat(chatId);
  for (const { transcript } of [early, late]) {
    expect({ breaches: transcript.breaches, messages: transcript.messages }).toEqual({
      breaches: [],
      messages: shown?.messages.nodes,
    });
  }
  expect(early.transcript.log).toContain("part TOOL ToolResultPart");
  expect((await shownResults(server.api, chatId))?.[2]).toEqual([
    "TOOL",
    [expect.objectContaining({ success: true, output: "one\ntwo\nthree\n" })],
  ]);
});

test("a client that reconnects while a command writes output resumes without duplicates", async () => {
  const server = await environment.start();
  const { request, goOn } = gatedCommand("echo one; sleep 0.5; echo two", "echo three; sleep 0.5");
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await follower.until((transcript) => outputOf(transcript).startsWith("one\n"));
  await follower.cut();
  const before = outputOf(follower.transcript);
  follower.transcript.reopened();
  const again = new Follower(server.api, chatId, follower.transcript);
  await again.until((transcript) => outputOf(transcript) === "one\ntwo\n");
  await goOn();
  await again.untilStatus("WAITING");
  expect([before.length <= "one\ntwo\n".length, again.transcript.breaches]).toEqual([true, []]);
});

test("a command with endless output is shown in a few bounded deltas that say what was omitted", async () => {
  const server = await environment.start();
  const { request, goOn } = gatedCommand("sleep 0.3; yes | head -c 20000000; sleep 1.5; echo end", "true");
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await follower.until((transcript) => outputOf(transcript).endsWith("end\n"));
  const late = server.api.follow(chatId);
  await late.until((transcript) => outputOf(transcript).endsWith("end\n"));
  const [output, lateOutput] = [outputOf(follower.transcript), outputOf(late.transcript)];
  await goOn();
  await follower.untilStatus("WAITING");
  await late.untilStatus("WAITING");
  const leftOut = [...output.matchAll(/\.\.\. \[(\d+) bytes left out\] \.\.\./g)].map(([, bytes]) =>
    Number(bytes),
  );
  expect(leftOut.length).toBeGreaterThan(0);
  const shownBytes = output.replaceAll(/\n\.\.\. \[\d+ bytes left out\] \.\.\.\n/g, "").length;
  expect(shownBytes + leftOut.reduce((sum, bytes) => sum + bytes, 0)).toBe(20_000_000 + "end\n".length);
  expect([shownBytes < 1_000_000, outputs(follower.transcript) < 200]).toEqual([true, true]);
  expect(lateOutput.length).toBeLessThanOrEqual(output.length + 100);
  expect([follower.transcript.breaches, late.transcript.breaches]).toEqual([[], []]);
});

test("a command with output causes no more database statements than a silent one", async () => {
  const server = await environment.start();
  const talk = "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.1; done";
  for (const command of [talk, "true"]) {
    const follower = server.api.follow(await server.api.createChat(`run \`${command}\``));
    await follower.untilStatus("WAITING");
    expect(outputs(follower.transcript) > 0).toBe(command === talk);
  }
  const rows = await environment.database.dataSource.query("SELECT DISTINCT snapshot_version FROM chats");
  expect(rows).toHaveLength(1);
});

test("concurrent commands are streamed concurrently, each until its own result", async () => {
  const model = await startStagedModel();
  ends.push(() => model.close());
  const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.1; done`;
  const call = (name: string) => ({
    ...{ id: `call_${name}`, name: "execute" },
    arguments: { command: `echo ${name} one; ${wait(name)}; echo ${name} two`, timeout: "60s" },
  });
  model.cast("side by side", [{ toolCalls: [call("a"), call("b")] }, { text: "Both." }]);
  const server = await environment.start(model.settings);
  const chatId = await server.api.createChat("side by side");
  const follower = server.api.follow(chatId);
  const outputs = ({ preview }: Transcript) => Object.fromEntries(preview?.outputs ?? []);
  const both = { call_a: "a one\n", call_b: "b one\n" };
  await follower.until((transcript) => isDeepStrictEqual(outputs(transcript), both));
  await appendFile(join(environment.repository.folder, "b"), "");
  // The result has replaced the streamed output.
  await follower.until((transcript) => isDeepStrictEqual(outputs(transcript), { call_a: "a one\n" }));
  await appendFile(join(environment.repository.folder, "a"), "");
  await follower.untilStatus("WAITING");
  expect([follower.transcript.breaches, (await shownResults(server.api, chatId))?.[2]]).toEqual([
    [],
    [
      "TOOL",
      ["a", "b"].map((name) => expect.objectContaining({ output: `${name} one\n${name} two\n` }) as unknown),
    ],
  ]);
});

test("a background command's output is streamed while a tool waits for it, including earlier output", async () => {
  const model = await startStagedModel();
  ends.push(() => model.close());
  const command = "echo one; until [ -e gate ]; do sleep 0.1; done; echo two";
  const background = { command, run_in_background: true };
  const lines: Line[] = [
    { toolCalls: [{ id: "call_start", name: "execute", arguments: background }] },
    { text: "It runs." },
  ];
  model.cast("in the background", lines);
  const server = await environment.start(model.settings);
  const chatId = await server.api.createChat("in the background");
  const follower = server.api.follow(chatId);
  await follower.untilStatus("WAITING");
  const [started] = follower.transcript.messages[2]?.parts ?? [];
  expect(started?.["result"]).toMatchObject({ background_process_id: expect.any(String) as string });
  const { background_process_id: id } = (started?.["result"] ?? {}) as { background_process_id?: string };
  const wait = { process_id: id ?? "", wait_timeout: "60s" };
  lines.push({ toolCalls: [{ id: "call_wait", name: "process_output", arguments: wait }] });
  await server.api.send(chatId, "And now?");
  await follower.until((transcript) => outputOf(transcript) === "one\n");
  await appendFile(join(environment.repository.folder, "gate"), "");
  await follower.untilStatus("WAITING");
  expect([follower.transcript.breaches, (await shownResults(server.api, chatId))?.[6]]).toEqual([
    [],
    ["TOOL", [expect.objectContaining({ success: true, output: "one\ntwo\n" })]],
  ]);
});

test("an interrupt ends a command that writes output, and its preview", async () => {
  const server = await environment.start();
  const { request } = gatedCommand("echo one", "true");
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await follower.until((transcript) => outputOf(transcript) === "one\n");
  await server.api.change("interruptChat", { chatId }, "chat { id }");
  await follower.untilStatus("WAITING");
  const { preview, breaches, messages } = follower.transcript;
  expect([preview, breaches, messages.map(({ role }) => role)]).toEqual([
    null,
    [],
    ["USER", "ASSISTANT", "TOOL"],
  ]);
});

test("commands that end at once, write nothing or write garbage appear only as results", async () => {
  const server = await environment.start();
  const request = "run `true` and run `echo quick` and run `head -c 3000 /dev/urandom`";
  const chatId = await server.api.createChat(request);
  const follower = server.api.follow(chatId);
  await follower.untilStatus("WAITING");
  const shown = await server.api.chat(chatId);
  expect([follower.transcript.breaches, follower.transcript.messages]).toEqual([[], shown?.messages.nodes]);
});

const SHORT_LEASE = { PARLEY_LEASE_MS: "2000", PARLEY_HEARTBEAT_MS: "500" };

/** An externally started agent for the chats' directory, which outlives every server. */
async function runAgent() {
  const { folder } = environment.repository;
  const env = { PATH: process.env["PATH"], HOME: folder };
  const options = { command: agentCommand, directory: folder, environment: env, logLevel: "silent" };
  const agent = spawnAgent({ ...options, clock: systemClock });
  ends.push(() => agent.stop());
  const { url, token } = await agent.listening;
  return { PARLEY_WORKSPACE_AGENT_URL: url, PARLEY_WORKSPACE_AGENT_TOKEN: token };
}

describe("with an agent that outlives the server", () => {
  test("a command survives the death of its server; the next one streams its output and delivers its result once", async () => {
    const settings = { ...SHORT_LEASE, ...(await runAgent()) };
    const first = await environment.spawn(settings);
    const { request, goOn } = gatedCommand("echo started >> starts; echo one", "echo two");
    const chatId = await first.api.createChat(request);
    const follower = first.api.follow(chatId);
    await follower.until((transcript) => outputOf(transcript) === "one\n");
    await first.end("SIGKILL");
    const { transcript } = follower;
    const lostAt = transcript.log.length;

    const second = await environment.spawn(settings);
    transcript.reopened();
    const again = new Follower(second.api, chatId, transcript);
    await again.until((shown) => shown.isCaughtUp && outputOf(shown) === "one\n");
    await goOn();
    await again.untilStatus("WAITING");
    expect(transcript.log.slice(lostAt).filter((name) => !name.startsWith("part "))).toEqual([
      "preview-reset WORKER_LOST",
      "caught-up",
      // The message with the tool call: its running time has increased.
      "message ASSISTANT",
      "message TOOL",
      "message ASSISTANT",
      "status WAITING",
    ]);
    const shown = await second.api.chat(chatId);
    expect({ breaches: transcript.breaches, messages: transcript.messages }).toEqual({
      breaches: [],
      messages: shown?.messages.nodes,
    });
    expect(await shownResults(second.api, chatId)).toEqual([
      ["USER", [null]],
      ["ASSISTANT", [null, null]],
      ["TOOL", [expect.objectContaining({ success: true, exit_code: 0, output: "one\ntwo\n" })]],
      ["ASSISTANT", [null]],
    ]);
    expect(await readFile(join(environment.repository.folder, "starts"), "utf8")).toBe("started\n");
  });

  test.skipIf(!hasRedis)(
    "a subscriber on another server receives the output again from the server that takes over",
    async () => {
      const redis = await startRedis();
      ends.push(() => redis.stop());
      const settings = { ...SHORT_LEASE, ...(await runAgent()), REDIS_URL: redis.url };
      const first = await environment.spawn({ ...settings, PARLEY_ROLE: "all" });
      const apiServer = await environment.start({ ...settings, PARLEY_ROLE: "api" });
      const { request, goOn } = gatedCommand(
        "echo one; sleep 0.3; head -c 30000 /dev/zero | tr '\\0' x; echo",
        "echo two",
      );
      const chatId = await apiServer.api.createChat(request);
      const follower = apiServer.api.follow(chatId);
      await follower.until((transcript) => outputOf(transcript).endsWith("x\n"));
      const before = outputOf(follower.transcript);
      const resets = ({ log }: Transcript) =>
        log.filter((name) => name === "preview-reset WORKER_LOST").length;
      await first.end("SIGKILL");
      const second = await environment.start(settings);
      await follower.until((transcript) => resets(transcript) === 1 && outputOf(transcript).endsWith("x\n"));
      const after = outputOf(follower.transcript);
      await goOn();
      await follower.untilStatus("WAITING");
      // Output received in two deltas is now one text, of which the limit keeps the end.
      expect([
        before.startsWith("one\n"),
        /^\n\.\.\. \[\d+ bytes left out\] \.\.\.\nx+\n$/.test(after),
      ]).toEqual([true, true]);
      expect({ breaches: follower.transcript.breaches, messages: follower.transcript.messages }).toEqual({
        breaches: [],
        messages: (await second.api.chat(chatId))?.messages.nodes,
      });
    },
  );

  test("a command that ended while no server ran delivers its result to the next one", async () => {
    const settings = { ...SHORT_LEASE, ...(await runAgent()) };
    const first = await environment.spawn(settings);
    const { request, goOn } = gatedCommand("echo started >> starts; echo one", "echo two");
    const chatId = await first.api.createChat(request);
    const follower = first.api.follow(chatId);
    await follower.until((transcript) => outputOf(transcript) === "one\n");
    await first.end("SIGKILL");
    await goOn();

    const second = await environment.spawn(settings);
    follower.transcript.reopened();
    const again = new Follower(second.api, chatId, follower.transcript);
    await again.untilStatus("WAITING");
    expect((await shownResults(second.api, chatId))?.[2]).toEqual([
      "TOOL",
      [expect.objectContaining({ success: true, output: "one\ntwo\n" })],
    ]);
    expect([
      again.transcript.breaches,
      await readFile(join(environment.repository.folder, "starts"), "utf8"),
    ]).toEqual([[], "started\n"]);
  });

  test("an agent that is unreachable or refuses is reported to the model, and chats continue", async () => {
    const agent = await runAgent();
    const wrong = { ...agent, PARLEY_WORKSPACE_AGENT_TOKEN: "not-the-token-of-it" };
    const server = await environment.start(wrong);
    const chatId = await server.api.createChat("run `echo hello`");
    const follower = server.api.follow(chatId);
    await follower.untilStatus("WAITING");
    expect((await shownResults(server.api, chatId))?.[2]).toEqual([
      "TOOL",
      [{ error: "The workspace cannot be reached right now. Try again in a moment." }],
    ]);
    expect(textOf(follower.transcript.messages.at(-1) ?? { id: "", role: "", parts: [] })).not.toBe("");
  });
});

describe.skipIf(!hasRedis)("with two servers and Redis", () => {
  test("a late subscriber on another server receives the newest output of a command, then live output", async () => {
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const settings = { ...SHORT_LEASE, REDIS_URL: redis.url };
    const worker = await environment.start(settings);
    const apiServer = await environment.start({ ...settings, PARLEY_ROLE: "api" });
    const lines =
      "i=0; while [ $i -lt 6 ]; do head -c 15000 /dev/zero | tr '\\\\0' x; i=$((i+1)); sleep 0.3; done";
    const { request, goOn } = gatedCommand(`${lines}; echo last`, "echo live; sleep 0.5");
    const chatId = await worker.api.createChat(request);
    const early = apiServer.api.follow(chatId);
    await early.until((transcript) => outputOf(transcript).endsWith("last\n"));
    const late = apiServer.api.follow(chatId);
    await late.until((transcript) => outputOf(transcript).endsWith("last\n"));
    const [all, newest] = [outputOf(early.transcript), outputOf(late.transcript)];
    await goOn();
    await Promise.all([early.untilStatus("WAITING"), late.untilStatus("WAITING")]);
    expect(newest.startsWith("... [earlier output left out] ...\n")).toBe(true);
    expect(all.endsWith(newest.slice("... [earlier output left out] ...\n".length))).toBe(true);
    expect(newest.length).toBeLessThan(70_000);
    expect([early.transcript.breaches, late.transcript.breaches]).toEqual([[], []]);
    expect(late.transcript.messages).toEqual((await apiServer.api.chat(chatId))?.messages.nodes);
  });
});
