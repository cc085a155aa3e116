// A read of the database may see the end of a generation while its last pieces still wait to be told.
import { afterEach, beforeEach, expect, test } from "vitest";
import { HubFixture, opening } from "./hub-fixture.js";
import { settle } from "./transcript.js";
import { said } from "./world.js";

let fixture: HubFixture;
beforeEach(() => {
  fixture = new HubFixture();
});
afterEach(() => fixture.hub.close());

const queue = (queuedId: string) => [
  { type: "send-message" as const, whenBusy: "queue" as const, message: said(queuedId), queuedId },
];

/** Something happens while the next read of the chat is under way. */
function during(happening: () => void): void {
  const { world } = fixture;
  world.beforeRead = (name) => {
    if (name !== "chat") return;
    world.beforeRead = () => undefined;
    happening();
  };
}

test("the last pieces come before their message when a read overtakes them", async () => {
  const { world } = fixture;
  world.start();
  const reader = await fixture.read();
  world.write("Hel");
  during(() => {
    world.write("lo");
    fixture.commitStep("Hello");
  });
  world.run(queue("lost"), { isTold: false });
  world.run(queue("told"));

  expect(await reader.story()).toEqual([...opening, "part Hel", "part lo", "queue", "message assistant"]);
});

test("a preview whose last pieces are gone when a read overtakes them is called void", async () => {
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
  world.run(queue("lost"), { isTold: false });
  world.run(queue("told"));

  expect(await reader.story()).toEqual([
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
  const begin = () => world.run([{ type: "begin-attempt", fence: world.fence }], { isTold: false });
  const ask = () => {
    fixture.commitStep("asks", { isTold: false });
    begin();
    world.write("output");
  };
  /** Writes the message that asked for the tool once more. */
  const endTool = () => {
    const messageId = world.messages.findLast((row) => row.generation !== null)?.id ?? "";
    const addRuntime = { messageId, runtimeMs: 5 };
    const messages = [{ ...world.answer("result"), role: "tool" as const }];
    const step = { type: "commit-step" as const, fence: world.fence, messages, openCalls: [], addRuntime };
    world.run([step], { isTold: false });
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

  // The transcript refuses a message that comes while the preview of a later one is open.
  const story = await reader.story();
  expect(story.filter((event) => event.startsWith("part"))).toEqual(["part output"]);
});
