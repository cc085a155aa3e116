// Stopping a turn with every vendor's own SDK: some end their stream silently when aborted, some throw their own error.
// An interrupt saves partial output with all of them, and a shutdown with none.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { DemoRequest } from "../../../src/demo-model/request.js";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { Follower } from "../../support/clients/api-client.js";
import { createTestEnvironment, type Settings, type TestEnvironment } from "../../support/parley.js";
import { textOf } from "../../support/clients/transcript.js";

const VENDORS: { vendor: string; settings: (url: string) => Settings }[] = [
  { vendor: "anthropic", settings: (url) => ({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url }) },
  {
    vendor: "openai-responses",
    settings: (url) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` }),
  },
  {
    vendor: "openai-chat",
    settings: (url) => ({
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: `${url}/v1`,
      PARLEY_OPENAI_API: "chat",
    }),
  },
  { vendor: "google", settings: (url) => ({ GEMINI_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: url }) },
  { vendor: "bedrock", settings: (url) => ({ AWS_BEARER_TOKEN_BEDROCK: "key", BEDROCK_BASE_URL: url }) },
];

/** Where a chat's first response hangs, what is visible of it by then, and what an interrupt saves. */
const PHASES: { phase: string; hang: ScriptStep["hang"]; streamed: string; stored: string[] }[] = [
  { phase: "before the headers", hang: "before-headers", streamed: "", stored: [] },
  { phase: "before the first part", hang: "before-events", streamed: "", stored: [] },
  { phase: "mid-text", hang: 2, streamed: "One two ", stored: ["One two "] },
];

let environment: TestEnvironment;
let demo: DemoModel;
let hang: ScriptStep["hang"];
let begun: () => void = () => undefined;
beforeAll(async () => {
  environment = await createTestEnvironment();
  demo = await startDemoModel({ host: "127.0.0.1", port: 0, script: answer });
});
afterAll(async () => {
  await environment.remove();
  await demo.close();
});

/** A model that hangs once and answers all further calls immediately. */
function answer(_request: DemoRequest): ScriptStep {
  const step = hang === undefined ? { text: "Done." } : { text: ["One ", "two ", "three."], hang };
  hang = undefined;
  begun();
  return step;
}

describe.each(VENDORS)("$vendor", ({ vendor, settings }) => {
  const start = () => environment.start({ ...settings(demo.url), PARLEY_MODEL: `model-of-${vendor}` });

  test.each(PHASES)("$phase: an interrupt saves partial output, a shutdown saves nothing", async (phase) => {
    const first = await start();
    const stopped = await hangingChat(first, phase);
    await first.api.change("interruptChat", { chatId: stopped.chatId }, "chat { id }");
    await stopped.follower.untilStatus("WAITING");
    await stopped.follower.close();

    const handed = await hangingChat(first, phase);
    await first.close();
    await handed.follower.ended;
    const second = await start();
    handed.follower.transcript.reopened();
    const again = new Follower(second.api, handed.chatId, handed.follower.transcript);
    await again.untilStatus("WAITING");
    await again.close();

    const shown = await Promise.all([second.api.chat(stopped.chatId), second.api.chat(handed.chatId)]);
    expect(shown.map((chat) => [chat?.status, ...(chat?.messages.nodes.map(textOf) ?? [])])).toEqual([
      ["WAITING", "begin", ...phase.stored],
      ["WAITING", "begin", "Done."],
    ]);
    for (const [index, { transcript }] of [stopped.follower, again].entries()) {
      expect([transcript.breaches, transcript.messages]).toEqual([[], shown[index]?.messages.nodes]);
    }
    await second.close();
  });
});

type Server = Awaited<ReturnType<TestEnvironment["start"]>>;

/** A chat whose model call has reached the phase and hangs. */
async function hangingChat({ api }: Server, phase: (typeof PHASES)[number]) {
  hang = phase.hang;
  const asked = new Promise<void>((resolve) => (begun = resolve));
  const chatId = await api.createChat("begin");
  const follower = api.follow(chatId);
  await asked;
  await follower.until(({ status, preview }) => {
    const text = preview?.parts.get(0)?.["text"] ?? "";
    return status === "RUNNING" && text === phase.streamed;
  });
  return { chatId, follower };
}
