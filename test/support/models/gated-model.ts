// A demo model beside the server, which speaks only when the test lets it, and says what the test wrote for it.
import type { Script } from "../../../src/demo-model/script.js";
import { startDemoModel, type DemoModel } from "../../../src/demo-model/server.js";
import { GatedClock } from "../gated-clock.js";

export type GatedModel = DemoModel & {
  clock: GatedClock;
  /** Makes this the default model of a server that is started with them. */
  settings: Record<string, string>;
};

export async function startGatedModel(script?: Script): Promise<GatedModel> {
  const clock = new GatedClock();
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0, clock, ...(script ? { script } : {}) });
  const settings = { ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: demo.url, PARLEY_MODEL: "parley-demo" };
  return { ...demo, clock, settings };
}
