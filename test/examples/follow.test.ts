// Every example is run as its reader would run it, over a network that breaks twice in the middle of the answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CuttableProxy, startCuttableProxy } from "../sdk/cuttable-proxy.js";
import { type GatedModel, startGatedModel } from "../support/models/gated-model.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../support/parley.js";

const root = resolve(import.meta.dirname, "../..");

let environment: TestEnvironment;
let server: TestParley;
beforeAll(async () => {
  environment = await createTestEnvironment();
});
afterAll(async () => {
  await environment.remove();
});

const WORDS = 60;
const WHOLE = Array.from({ length: WORDS }, (_, index) => `word${index + 1} `).join("");

test.each(["node", "graphql-ws-plain", "apollo-client", "urql"])(
  "the example %s shows every word once, though it is cut off twice",
  async (name) => {
    const model: GatedModel = await startGatedModel();
    server = await environment.start(model.settings);
    const proxy = await startCuttableProxy(server.api.url);
    const example = new RunningExample(name, proxy, `[[demo: deltas=${WORDS} delay=1]]`);
    const cuts: number[] = [];
    for (const word of [20, 40]) {
      model.clock.let(20);
      await example.shows(`word${word - 1} `);
      cuts.push(proxy.cut());
    }
    model.clock.open();
    expect(await example.ended).toEqual({ code: 0, shown: `${WHOLE}\n`, complaints: "" });
    // One socket each time, and one more at the end; some say hello on a socket of its own.
    expect({ cuts, cameBack: proxy.sockets >= 3 }).toEqual({ cuts: [1, 1], cameBack: true });
    await proxy.close();
    await server.close();
    await model.close();
  },
);

class RunningExample {
  readonly ended: Promise<{ code: number | null; shown: string; complaints: string }>;
  readonly #child: ChildProcess;
  #shown = "";
  #complaints = "";

  constructor(name: string, proxy: CuttableProxy, text: string) {
    const program = join(root, "examples", name, "follow.ts");
    const child = spawn(process.execPath, ["--import", "@oxc-node/core/register", program, text], {
      cwd: root,
      env: { PATH: process.env["PATH"], PARLEY_URL: proxy.url, PARLEY_TOKEN: server.api.token ?? "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#shown += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    this.ended = once(child, "close").then(([code]) => ({
      ...{ code: code as number | null, shown: this.#shown, complaints: this.#complaints },
    }));
  }

  async shows(text: string): Promise<void> {
    while (!this.#shown.includes(text)) {
      if (this.#child.exitCode !== null) throw new Error(`The example ended early: ${this.#complaints}`);
      await Promise.race([once(this.#child.stdout!, "data"), this.ended]);
    }
  }
}
