import { afterAll, beforeAll, expect, test } from "vitest";
import { Follower } from "../../support/clients/api-client.js";
import { type GatedModel, startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { randomNumbers } from "../../support/random.js";
import { Transcript } from "../../support/clients/transcript.js";

let environment: TestEnvironment;
let model: GatedModel;
let parley: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
  model = await startGatedModel();
  parley = await environment.start(model.settings);
});
afterAll(async () => {
  await environment.remove();
  await model.close();
});

const CUTS = 200;

test(`a client that is disconnected ${CUTS} times during a turn misses no delta and receives none twice`, async () => {
  const random = randomNumbers(4_711);
  const chatId = await parley.api.createChat("[[demo: deltas=3000 delay=1 reasoning]]");
  const transcript = new Transcript();
  let cuts = 0;
  let resumedInPreview = 0;
  while (cuts < CUTS) {
    if (transcript.preview !== null) resumedInPreview += 1;
    transcript.reopened();
    const follower = new Follower(parley.api, chatId, transcript);
    // Sometimes before the server's first response, mostly after a few deltas.
    for (let wanted = random(4); wanted > 0; wanted -= 1) {
      const seen = transcript.preview?.sequence ?? 0;
      model.clock.let(1 + random(3));
      await follower.until(({ preview }) => (preview?.sequence ?? 0) > seen);
    }
    await follower.cut();
    cuts += 1;
  }
  const deltas = transcript.preview?.sequence ?? 0;
  expect(transcript.status).toBe("RUNNING");
  model.clock.open();
  transcript.reopened();
  const last = new Follower(parley.api, chatId, transcript);
  await last.untilStatus("WAITING");
  await last.close();

  const shown = await parley.api.chat(chatId);
  const resets = transcript.log.filter((name) => name.startsWith("preview-reset"));
  const refreshes = transcript.log.filter((name) => name.startsWith("refresh"));
  expect({ cuts, breaches: transcript.breaches, resets, refreshes, messages: transcript.messages }).toEqual({
    cuts: CUTS,
    breaches: [],
    resets: [],
    refreshes: ["refresh FIRST_SNAPSHOT"],
    messages: shown?.messages.nodes,
  });
  const text = Array.from({ length: 3_000 }, (_, index) => `word${index + 1} `).join("");
  expect(transcript.answers).toEqual([text]);
  // The turn was long enough for the connections to break in the middle of it.
  expect({
    confirmed: transcript.confirmedPreviews,
    isLong: deltas > CUTS,
    isMiddle: resumedInPreview > 150,
  }).toEqual({ confirmed: 1, isLong: true, isMiddle: true });
});
