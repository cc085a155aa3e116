// The events of a turn as one subscriber receives them, flow by flow.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChatFailure } from "../../src/domain/common/failures.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { HubFixture, opening } from "./hub-fixture.js";
import { settle } from "./transcript.js";
import { userMessage } from "./world.js";

const failure: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };
let bus: HubFixture["bus"];
let world: HubFixture["world"];
let hub: HubFixture["hub"];
let fixture: HubFixture;

const read = (after?: string | null) => fixture.read(after);

function build(options: ConstructorParameters<typeof HubFixture>[0] = {}): void {
  fixture = new HubFixture(options);
  ({ bus, world, hub } = fixture);
}

beforeEach(() => build());
afterEach(() => hub.close());

describe("a turn", () => {
  test("is sent as its status, its deltas, its message and its end", async () => {
    const reader = await read();
    world.start();
    world.write("Hel", "lo");
    world.finish("Hello");

    expect(await reader.eventLog()).toEqual([
      ...opening,
      "status running",
      "part Hel",
      "part lo",
      "message assistant",
      "status waiting",
    ]);
  });

  test("that is already running is replayed from its first delta to a late subscriber", async () => {
    world.start();
    const early = await read();
    world.write("Hel", "lo");
    const late = await read();
    world.write("!");

    expect(await early.eventLog()).toEqual([...opening, "part Hel", "part lo", "part !"]);
    expect(await late.eventLog()).toEqual([
      "refresh first_snapshot",
      "part Hel",
      "part lo",
      "caught-up",
      "part !",
    ]);
  });

  test("resumes for a returning reader with the delta after its last one", async () => {
    world.start();
    const first = await read();
    world.write("Hel");
    await first.stream.return();
    world.write("lo");
    const second = await read(first.transcript.cursor);

    expect(await second.eventLog()).toEqual(["part lo", "caught-up"]);
    expect(second.transcript.events.at(-1)).toMatchObject({ type: "caught-up", replayedEvents: 1 });
  });

  test("that ended meanwhile is replayed to a returning reader in the documented order", async () => {
    world.start();
    const first = await read();
    world.write("Hel");
    await first.stream.return();
    world.finish("Hello");
    world.run([{ type: "send-message", whenBusy: "queue", message: userMessage("next"), queuedId: "q1" }]);
    const second = await read(first.transcript.cursor);

    expect(await second.eventLog()).toEqual([
      "message assistant",
      "message user",
      "status pending",
      "caught-up",
    ]);
  });

  test("is followed without reading any rows while the bus loses nothing", async () => {
    await read();
    for (let turn = 0; turn < 10; turn += 1) {
      world.start();
      world.write("a", "b");
      world.finish("ab");
      world.run([
        { type: "send-message", whenBusy: "queue", message: userMessage("next"), queuedId: `q${turn}` },
      ]);
    }
    await settle();
    expect(world.rowReads).toBe(0);
  });
});

describe("a preview is void", () => {
  test("when the attempt failed: the retry notice comes first, and the next attempt starts empty", async () => {
    const reader = await read();
    world.start();
    world.write("Hel");
    world.run([{ type: "record-retry", fence: world.fence, delayMs: 5, failure }]);
    world.run([{ type: "begin-attempt", fence: world.fence }]);
    world.write("Hi");

    expect(await reader.eventLog()).toEqual([
      ...opening,
      "status running",
      "part Hel",
      "retry",
      "preview-reset retry",
      "part Hi",
    ]);
    expect(Object.fromEntries(reader.transcript.previews)).toEqual({ gen_1_2: "Hi" });
  });

  test("when another worker takes the chat over", async () => {
    const reader = await read();
    world.start();
    world.write("Hel");
    world.start("worker-2", "runner-2", true);
    world.write("Hi");

    expect(await reader.eventLog()).toEqual([
      ...opening,
      "status running",
      "part Hel",
      "preview-reset worker_lost",
      "part Hi",
    ]);
  });

  test("when an interrupt left nothing to save", async () => {
    const reader = await read();
    world.start();
    world.write("Hel");
    world.run([{ type: "interrupt" }]);
    world.run([{ type: "finish-interrupt", fence: world.fence, messages: [], openCalls: [] }]);

    expect(await reader.eventLog()).toEqual([
      ...opening,
      "status running",
      "part Hel",
      "status interrupting",
      "preview-reset interrupt",
      "status waiting",
    ]);
  });

  test("not when an interrupt saved what there was", async () => {
    const reader = await read();
    world.start();
    world.write("Hel");
    world.run([{ type: "interrupt" }]);
    const messages = [world.answer("Hel")];
    world.run([{ type: "finish-interrupt", fence: world.fence, messages, openCalls: [] }]);

    expect((await reader.eventLog()).slice(-3)).toEqual([
      "status interrupting",
      "message assistant",
      "status waiting",
    ]);
  });

  test("when its log was cut before a lost delta, and no more of it is sent", async () => {
    build({ maxGenerationBytes: 300 });
    world.start();
    const reader = await read();
    const listeners = lose(bus);
    world.write("a", "b");
    listeners.isLossy = true;
    world.write("c");
    listeners.isLossy = false;
    world.write("d");
    await settle();
    world.write("e");
    world.finish("abcde");
    await settle();

    expect(await reader.eventLog()).toEqual([
      ...opening,
      "part a",
      "part b",
      "preview-reset worker_lost",
      "message assistant",
      "status waiting",
    ]);
  });

  test("for a subscriber that joins after its log was cut; one that was there from the start sees all of it", async () => {
    build({ maxGenerationBytes: 300 });
    world.start();
    const early = await read();
    world.write("a", "b", "c");
    const late = await read();
    world.write("d");

    expect(await early.eventLog()).toEqual([...opening, "part a", "part b", "part c", "part d"]);
    expect(await late.eventLog()).toEqual([
      "refresh first_snapshot",
      "preview-reset worker_lost",
      "caught-up",
    ]);
  });

  test("for a reader that returns when the log has expired and others have continued", async () => {
    world.start();
    await read();
    const leaving = await read();
    world.write("a");
    await leaving.stream.return();
    world.write("b");
    bus.readDeltas = () => Promise.resolve(null);
    const back = await read(leaving.transcript.cursor);
    world.write("c");

    expect(await back.eventLog()).toEqual(["preview-reset worker_lost", "caught-up"]);
  });

  test("and stays so: a failed attempt is not replayed to a reader that returns after the retry was interrupted", async () => {
    world.start();
    const first = await read();
    world.write("Hel");
    world.run([{ type: "record-retry", fence: world.fence, delayMs: 5, failure }]);
    await first.eventLog();
    await first.stream.return();
    world.run([{ type: "interrupt" }]);
    const second = await read(first.transcript.cursor);

    expect(await second.eventLog()).toEqual(["status interrupting", "caught-up"]);
  });

  test("and stays so: the deltas of a worker that shut down are not replayed once the next one has the chat", async () => {
    world.start();
    world.write("Hel");
    world.run([{ type: "release", fence: world.fence }]);
    world.run([{ type: "acquire", workerId: "w2", runnerId: "r2", isLeaseDead: false }]);

    expect(await (await read()).eventLog()).toEqual(opening);
  });
});

/** While `isLossy`, live batches reach the log but no listener. */
function lose(of: MemoryBus): { isLossy: boolean } {
  const control = { isLossy: false };
  const publish = of.publishLive.bind(of);
  const quiet = new MemoryBus(createLog("silent"));
  of.publishLive = (batch) => (control.isLossy ? quiet.publishLive(batch) : publish(batch));
  return control;
}
