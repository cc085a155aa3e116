// A database read may see the end of a generation while its last deltas still wait in the queue.
import { afterEach, beforeEach, expect, test } from "vitest";
import { HubFixture, opening } from "./hub-fixture.js";
import { settle } from "./transcript.js";
import { userMessage } from "./world.js";

let fixture: HubFixture;
beforeEach(() => {
  fixture = new HubFixture();
});
afterEach(() => fixture.hub.close());

const queue = (queuedId: string) => [
  { type: "send-message" as const, whenBusy: "queue" as const, message: userMessage(queuedId), queuedId },
];

/** Calls `happening` during the next read of the chat. */
function during(happening: () => void): void {
  const { world } = fixture;
  world.beforeRead = (name) => {
    if (name !== "chat") return;
    world.beforeRead = () => undefined;
    happening();
  };
}

test("the last deltas come before their message when a read overtakes them", async () => {
  const { world } = fixture;
  world.start();
  const reader = await fixture.read();
  world.write("Hel");
  during(() => {
    world.write("lo");
    fixture.commitStep("Hello");
  });
  world.run(queue("lost"), { isPublished: false });
  world.run(queue("published"));

  expect(await reader.eventLog()).toEqual([...opening, "part Hel", "part lo", "queue", "message assistant"]);
});

test("a preview is reset when a read overtakes its last deltas and their log is gone", async () => {
  const { world } = fixture;
  world.start();
  const reader = await fixture.read();
  world.write("Hel");
  during(() => {
    world.write("lo");
    fixture.commitStep("Hello");
    world.run([{ type: "begin-attempt", fence: world.fence }]);
    world.write("Next");
  });
  world.run(queue("lost"), { isPublished: false });
  world.run(queue("published"));

  expect(await reader.eventLog()).toEqual([
    ...opening,
    "part Hel",
    "preview-reset worker_lost",
    "queue",
    "message assistant",
    "part Next",
  ]);
});

test("a message comes before the output of its tool, however often commits fall between reads", async () => {
  const { world } = fixture;
  const begin = () => world.run([{ type: "begin-attempt", fence: world.fence }], { isPublished: false });
  const ask = () => {
    fixture.commitStep("asks", { isPublished: false });
    begin();
    world.write("output");
  };
  /** Rewrites the message that called the tool. */
  const endTool = () => {
    const messageId = world.messages.findLast((row) => row.generation !== null)?.id ?? "";
    const addRuntime = { messageId, runtimeMs: 5 };
    const messages = [{ ...world.answer("result"), role: "tool" as const }];
    const step = { type: "commit-step" as const, fence: world.fence, messages, openCalls: [], addRuntime };
    world.run([step], { isPublished: false });
  };
  world.start();
  const reader = await fixture.read();
  let commits = 4;
  world.beforeRead = (name) => {
    if (name !== "rows" || commits === 0) return;
    commits -= 1;
    endTool();
    if (commits > 0) {
      begin();
      ask();
    }
  };
  ask();
  await settle();
  fixture.hub.sweep();

  // The transcript fails on a message that arrives while the preview of a later one is open.
  const events = await reader.eventLog();
  expect(events.filter((event) => event.startsWith("part"))).toEqual(["part output"]);
});
