// A chat may be waiting for a retry that is unrelated to the preview of a returning reader.
import { afterEach, beforeEach, expect, test } from "vitest";
import { HubFixture } from "./hub-fixture.js";

let fixture: HubFixture;
beforeEach(() => {
  fixture = new HubFixture();
});
afterEach(() => fixture.hub.close());

test("a preview that was lost long before the current retry is reset before the messages that replace it", async () => {
  const { world } = fixture;
  world.start();
  const first = await fixture.read();
  world.write("Hel");
  await first.eventLog();
  await first.stream.return();
  world.start("worker-2", "runner-2", true);
  fixture.commitStep("Hello");
  world.run([{ type: "begin-attempt", fence: world.fence }]);
  const failure = { kind: "overloaded" as const, message: "Busy.", isRetryable: true };
  world.run([{ type: "record-retry", fence: world.fence, delayMs: 5, failure }]);
  const second = await fixture.read(first.transcript.cursor);

  expect(await second.eventLog()).toEqual([
    "preview-reset worker_lost",
    "message assistant",
    "retry",
    "caught-up",
  ]);
});
