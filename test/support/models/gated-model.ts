// Demo model that streams its scripted answers only as far as the test lets it.
import type { Script } from "../../../src/demo-model/script.js";
import { startDemoModel, type DemoModel } from "../../../src/demo-model/server.js";
import { GatedClock } from "../gated-clock.js";

export type GatedModel = DemoModel & {
  clock: GatedClock;
  /** Settings of a server that has this as its default model. */
  settings: Record<string, string>;
};

export async function startGatedModel(script?: Script): Promise<GatedModel> {
  const clock = new GatedClock();
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0, clock, ...(script ? { script } : {}) });
  const settings = { ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: demo.url, PARLEY_MODEL: "parley-demo" };
  return { ...demo, clock, settings };
}
