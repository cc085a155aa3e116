// Usage limits in turns: between steps, with concurrent calls, and while a limit changes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { SavedChange } from "../../src/domain/chats/chat-events.js";
import type { UsageLimitPolicy } from "../../src/domain/usage/usage-limits.js";
import { defineTool } from "../../src/engine/tools/tool.js";
import { setModelPricing } from "../../src/store/models/models.js";
import { setUsageLimitOverride, setUsageLimitPolicy } from "../../src/store/usage/usage-limits.js";
import { insertViewer } from "../support/database/rows.js";
import { isAtRest, World, type Replica } from "../engine/world.js";

/** A call costs a dollar at most. */
const GREATEST = { input: "0", output: "10000", cacheRead: null, cacheWrite: null };
const HALF_DOLLAR = { inputTokens: 0, outputTokens: 50 };
const DOLLAR = { inputTokens: 0, outputTokens: 100 };
/** Poll interval of a waiting call. */
const POLL_MS = 1_000;

let world: World;
let replica: Replica;
let asked: number;
let onAsked: () => void = () => undefined;
beforeAll(async () => {
  world = await World.open();
  await world.run("UPDATE model_configs SET max_output_tokens = 100");
  await setModelPricing(world.database, world.modelConfigId, GREATEST);
});
afterAll(() => world.close());
beforeEach(() => {
  asked = 0;
});
afterEach(async () => {
  await world.closeReplicas();
  await setLimits({ isEnabled: false });
  await world.run("DELETE FROM usage_limit_overrides");
  await world.run("DELETE FROM chats");
});

const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => Promise.resolve({ sum: a + b }),
});

async function start(options: Parameters<World["replica"]>[0] = {}): Promise<void> {
  replica = world.replica({ tools: [add], ...options });
  await replica.worker.start();
}

/** As by an admin's command. */
async function setLimits(policy: Partial<UsageLimitPolicy>): Promise<void> {
  await setUsageLimitPolicy(world.database, {
    isEnabled: true,
    period: "month",
    defaultLimitMicros: null,
    ...policy,
  });
  world.bus.publishConfigChange("usage-limits");
}

/** Counts every call and answers with the next of these; the last one repeats. */
function answers(...steps: [ScriptStep, ...ScriptStep[]]): void {
  world.answer = () => {
    const step = steps[Math.min(asked, steps.length - 1)] ?? {};
    asked += 1;
    onAsked();
    return step;
  };
}

function untilAsked(times: number): Promise<void> {
  return new Promise((resolve) => {
    onAsked = () => {
      if (asked >= times) resolve();
    };
    onAsked();
  });
}

async function spent(): Promise<string> {
  const [row] = await world.run("SELECT coalesce(sum(cost_micros), 0)::text AS micros FROM usage_days");
  return String(row?.["micros"]);
}

const reservations = async () => (await world.run("SELECT id FROM usage_holds")).length;

const ADD: ScriptStep = {
  text: "I add.",
  toolCalls: [{ id: "c1", name: "add", arguments: { a: 1, b: 2 } }],
  usage: DOLLAR,
};

describe("a turn that reaches the limit", () => {
  test("ends with an error that says so, keeps everything, and continues when the limit is raised", async () => {
    await setLimits({ defaultLimitMicros: 1_000_000n });
    const counted: string[] = [];
    const meter = { limitRefusal: (site: string, reason: string) => counted.push(`${site} ${reason}`) };
    await start({ usageLimits: { meter } });
    answers(ADD, { text: "Three.", usage: DOLLAR });
    const chatId = await world.createChat(replica, "1 + 2?", { workspaceId: world.workspaceId });
    const stopped = await world.until(chatId, isAtRest);
    expect([stopped.status, stopped.lastError, asked]).toEqual([
      "error",
      {
        kind: "usage_limit",
        message:
          "The usage limit of $1.00 per month is reached: $1.00 are spent. It resets at 2026-02-01T00:00:00.000Z.",
        isRetryable: false,
      },
      1,
    ]);
    const expectedHistory = ["user: 1 + 2?", 'assistant: I add. c1=add({"a":1,"b":2})', 'tool: c1={"sum":3}'];
    expect(await world.historyLines(chatId)).toEqual(expectedHistory);
    await expect(world.send(replica, chatId, "Go on")).rejects.toThrow("The usage limit of $1.00");
    expect(counted).toEqual(["step reached", "send reached"]);
    await setLimits({ defaultLimitMicros: 1_000_001n });
    await world.send(replica, chatId, "Go on");
    const rested = await world.until(chatId, isAtRest);
    expect([rested.status, await world.historyLines(chatId)]).toEqual([
      "waiting",
      [...expectedHistory, "user: Go on", "assistant: Three."],
    ]);
  });

  test("generates no summary either", async () => {
    await setLimits({ defaultLimitMicros: 1_000_000n });
    await world.run("UPDATE model_configs SET context_limit = 1000, compaction_threshold_percent = 70");
    await start();
    answers({ ...ADD, usage: { inputTokens: 800, outputTokens: 100 } });
    const chatId = await world.createChat(replica, "1 + 2?", { workspaceId: world.workspaceId });
    const { status, lastError } = await world.until(chatId, isAtRest);
    await world.run("UPDATE model_configs SET context_limit = 200000");
    expect([status, lastError?.kind, asked]).toEqual(["error", "usage_limit", 1]);
  });

  test("continues in the next period", async () => {
    await setLimits({ defaultLimitMicros: 1_000_000n, period: "day" });
    await start();
    answers({ text: "Dear.", usage: DOLLAR });
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, isAtRest);
    const words = { parts: [{ type: "text" as const, text: "More" }], whenBusy: "queue" as const, chatId };
    expect(await replica.commands.sendMessage(world.viewer, words)).toMatchObject({
      ok: false,
      refusal: { code: "LIMIT_EXCEEDED", usage: { resetsAt: new Date("2026-01-02T00:00:00Z") } },
    });
    replica.clock.advance(24 * 60 * 60_000);
    await world.send(replica, chatId, "More");
    await world.untilStatus(chatId, "waiting");
    expect(asked).toBe(2);
  });
});

describe("concurrent calls of one user", () => {
  const slow: ScriptStep = { text: ["Half ", "done."], delayMs: 700, usage: HALF_DOLLAR };
  const quick: ScriptStep = { text: "Done.", usage: HALF_DOLLAR };

  test("all run at once while the limit allows them", async () => {
    await setLimits({ defaultLimitMicros: 6_000_000n });
    await start();
    answers(slow);
    const six = untilAsked(6);
    const chats = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => world.createChat(replica, `Chat ${n}`)));
    await six;
    expect(await reservations()).toBe(6);
    world.modelClock.advance(700);
    await Promise.all(chats.map((chatId) => world.untilStatus(chatId, "waiting")));
    await world.closeReplicas();
    expect([await spent(), await reservations()]).toEqual(["3000000", 0]);
  });

  test("wait for each other near the limit, and together exceed it by one call at most", async () => {
    await setLimits({ defaultLimitMicros: 1_200_000n });
    await start();
    answers(slow, slow, quick);
    const waits = replica.clock.nextTimer(POLL_MS);
    const chats = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => world.createChat(replica, `Chat ${n}`)));
    await Promise.all([waits, untilAsked(2)]);
    expect(asked).toBe(2);
    world.modelClock.advance(700);
    const ends = await Promise.all(chats.map((chatId) => world.until(chatId, isAtRest)));
    expect(ends.map(({ status, lastError }) => lastError?.kind ?? status).sort()).toEqual([
      ...["usage_limit", "usage_limit", "usage_limit", "waiting", "waiting", "waiting"],
    ]);
    expect([asked, await spent()]).toEqual([3, "1500000"]);
  });

  /** One running call that may cost the rest of the limit, and one that waits for it. */
  async function oneWaits(): Promise<{ first: string; second: string }> {
    await setLimits({ defaultLimitMicros: 900_000n });
    await start();
    answers(slow, quick);
    const first = await world.createChat(replica, "First");
    await untilAsked(1);
    const waits = replica.clock.nextTimer(POLL_MS);
    const second = await world.createChat(replica, "Second");
    await waits;
    return { first, second };
  }

  test("a waiting one runs at once when the limit is raised", async () => {
    const { second } = await oneWaits();
    await setLimits({ defaultLimitMicros: 5_000_000n });
    await world.untilStatus(second, "waiting");
    expect(asked).toBe(2);
    world.modelClock.advance(700);
  });

  test("a waiting one runs when the limits are disabled", async () => {
    const { second } = await oneWaits();
    await setLimits({ isEnabled: false });
    await world.untilStatus(second, "waiting");
    world.modelClock.advance(700);
  });

  test("a waiting one can be stopped", async () => {
    const { first, second } = await oneWaits();
    await replica.commands.interruptChat(world.viewer, second);
    await world.untilStatus(second, "waiting");
    expect([asked, await world.historyLines(second)]).toEqual([1, ["user: Second"]]);
    world.modelClock.advance(700);
    await world.untilStatus(first, "waiting");
  });

  test("a waiting one polls for calls on other replicas, and waits a quarter of an hour at most", async () => {
    const { second } = await oneWaits();
    const again = replica.clock.nextTimer(POLL_MS);
    replica.clock.advance(POLL_MS);
    await again;
    replica.clock.advance(15 * 60_000);
    const { status, lastError } = await world.until(second, isAtRest);
    expect([status, lastError?.kind, lastError?.isRetryable, asked]).toEqual([
      "error",
      "usage_limit",
      true,
      1,
    ]);
    world.modelClock.advance(700);
  });

  test("a closing worker releases chats with waiting calls", async () => {
    const { second } = await oneWaits();
    await replica.worker.close();
    expect((await world.state(second)).status).toBe("pending");
    expect(await reservations()).toBe(0);
  });

  test("a failed attempt releases its reservation, and counts its usage", async () => {
    await setLimits({ defaultLimitMicros: 900_000n });
    await start();
    answers(
      { text: "Hm", usage: HALF_DOLLAR, streamError: { type: "overloaded_error", message: "No." } },
      quick,
    );
    const wait = replica.clock.nextTimer(500);
    const chatId = await world.createChat(replica, "Try");
    await wait;
    // The vendor had reported one token when it failed. No budget is withheld from other calls during the wait.
    expect([await spent(), await reservations()]).toEqual(["10000", 0]);
    replica.clock.advance(500);
    await world.untilStatus(chatId, "waiting");
    await world.closeReplicas();
    expect([asked, await spent(), await reservations()]).toEqual([2, "510000", 0]);
  });
});

describe("a user without a limit", () => {
  test("executes no statement for the limits of others", async () => {
    await setLimits({});
    const { userId } = await insertViewer(world.database);
    await setUsageLimitOverride(world.database, userId, 1n);
    await start();
    answers({ text: "Hello." });
    const chatId = await world.createChat(replica, "Warm up");
    await world.until(chatId, isAtRest);
    const rested = new Promise<void>((resolve, reject) => {
      const saved = ({ state }: SavedChange) => state.status === "waiting" && resolve();
      world.bus.subscribeChat(chatId, { saved, live: () => undefined }).catch(reject);
    });
    const before = { ...world.database.counters };
    await world.send(replica, chatId, "Again");
    await rested;
    const { statements, transactions } = world.database.counters;
    expect([statements - before.statements, transactions - before.transactions]).toEqual([3, 3]);
  });

  test("a model without a price runs beside all others, as its cost is unknown", async () => {
    await setLimits({ defaultLimitMicros: 900_000n });
    await setModelPricing(world.database, world.modelConfigId, null);
    await start();
    answers({ text: "Free." });
    const chats = await Promise.all([1, 2, 3].map((n) => world.createChat(replica, `Chat ${n}`)));
    await Promise.all(chats.map((chatId) => world.untilStatus(chatId, "waiting")));
    await setModelPricing(world.database, world.modelConfigId, GREATEST);
    expect([asked, await spent()]).toEqual([3, "0"]);
  });
});

describe("a title", () => {
  test("is not generated at the limit, without affecting the chat", async () => {
    await setLimits({ defaultLimitMicros: 900_000n });
    await start();
    answers({ text: "Hello.", usage: DOLLAR });
    const chatId = await world.createChat(replica, "Hello there");
    await world.until(chatId, isAtRest);
    const state = await world.state(chatId);
    const chat = { chatId, ownerId: world.viewer.userId, modelConfigId: world.modelConfigId, state };
    expect(await replica.titles.regenerate(chat)).toMatchObject({ outcome: "failed" });
    expect(await replica.commands.regenerateChatTitle(world.viewer, chatId)).toMatchObject({
      refusal: { code: "LIMIT_EXCEEDED", usage: { spentMicros: 1_000_000n, limitMicros: 900_000n } },
    });
    expect([asked, (await world.state(chatId)).title]).toEqual([1, "Hello there"]);
  });
});

describe("while the limit cannot be read", () => {
  const words = { parts: [{ type: "text" as const, text: "Hello" }] };
  const breakLimits = () => world.run("ALTER TABLE usage_limit_policy RENAME TO hidden_policy");
  const mendLimits = () => world.run("ALTER TABLE hidden_policy RENAME TO usage_limit_policy");

  /** Runs a chat's turn while limits cannot be read; returns how it ends. */
  async function turnWithoutLimits(whenUnchecked: "closed" | "open") {
    await setLimits({ defaultLimitMicros: 5_000_000n });
    replica = world.replica({ usageLimits: { whenUnchecked } });
    answers({ text: "Hello." });
    const chatId = await world.createChat(replica, "Hello");
    await breakLimits();
    try {
      const sent = await replica.commands.createChat(world.viewer, words);
      await replica.worker.start();
      return { sent, state: await world.until(chatId, isAtRest) };
    } finally {
      await mendLimits();
    }
  }

  test("nothing that costs money starts, and a turn ends with the reason", async () => {
    const { sent, state } = await turnWithoutLimits("closed");
    const message = "Whether the usage limit allows this could not be checked. Try again soon.";
    expect([sent, state.status, state.lastError, asked]).toEqual([
      { ok: false, refusal: { code: "UNAVAILABLE", message, what: "usage-limit" } },
      "error",
      { kind: "internal", message, isRetryable: true },
      0,
    ]);
  });

  test("everything continues when configured so", async () => {
    const { sent, state } = await turnWithoutLimits("open");
    expect([sent.ok, state.status]).toEqual([true, "waiting"]);
  });

  test("nothing is refused when there were no limits a moment ago", async () => {
    replica = world.replica();
    answers({ text: "Hello." });
    await world.createChat(replica, "Hello");
    await breakLimits();
    try {
      replica.clock.advance(60_000);
      expect(await replica.commands.createChat(world.viewer, words)).toMatchObject({ ok: true });
    } finally {
      await mendLimits();
    }
  });
});
