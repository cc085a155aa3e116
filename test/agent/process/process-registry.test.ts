import { homedir } from "node:os";
import { join } from "node:path";
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Outcome } from "../../../src/agent/outcome.js";
import { inheritedEnvironment } from "../../../src/agent/process/environment.js";
import { GROUP_CHECK_MS, TERMINATION_GRACE_MS } from "../../../src/agent/process/process-group.js";
import { ProcessRegistry } from "../../../src/agent/process/process-registry.js";
import { EXITED_RETENTION_MS, KEYED_RETENTION_MS } from "../../../src/agent/process/retention.js";
import { OUTPUT_DRAIN_MS } from "../../../src/agent/process/shell-process.js";
import { createLog } from "../../../src/lib/log.js";
import { makeFifo } from "../files/fifo.js";
import { ManualClock } from "../manual-clock.js";
import { makeFolder } from "../support.js";

const SCOPE = { chatId: undefined, ancestorChatIds: [] };
const FOREVER = { timeoutMs: 300_000, signal: new AbortController().signal };

let folder: string;
let clock: ManualClock;
let registry: ProcessRegistry;

function openRegistry(): ProcessRegistry {
  return new ProcessRegistry({
    directory: folder,
    homeDirectory: homedir(),
    environment: inheritedEnvironment(),
    instanceId: "registry-test",
    nice: 0,
    limits: { perChat: 3, perUser: 5 },
    clock,
    log: createLog("silent"),
  });
}

function valueOf<Value>(outcome: Outcome<Value>): Value {
  if (outcome.kind === "done") return outcome.value;
  throw new Error(outcome.message);
}

async function run(command: string, idempotencyKey?: string): Promise<string> {
  const { id } = valueOf(await registry.start({ command, idempotencyKey }, SCOPE));
  await registry.outputAfterExit(id, SCOPE, FOREVER);
  return id;
}

/** Ends each grace period at once. With a running clock the ended processes would soon be forgotten too. */
async function hurryEndings(): Promise<never> {
  for (;;) {
    clock.advance(TERMINATION_GRACE_MS);
    await clock.nextTimer(GROUP_CHECK_MS);
  }
}

beforeEach(async () => {
  folder = await makeFolder();
  clock = new ManualClock();
  registry = openRegistry();
});

afterEach(async () => {
  void hurryEndings();
  await registry.close();
  await rm(folder, { recursive: true });
});

test("ended processes are forgotten after five minutes, those started with a key after an hour", async () => {
  const plain = await run("true");
  const keyed = await run("true", "key");
  const listedIds = () => registry.list(SCOPE).processes.map(({ id }) => id);

  expect(listedIds()).toEqual([keyed, plain]);
  clock.advance(EXITED_RETENTION_MS + 1);
  expect(listedIds()).toEqual([keyed]);
  expect(valueOf(await registry.start({ command: "true", idempotencyKey: "key" }, SCOPE))).toEqual({
    id: keyed,
    started: false,
    attached: true,
  });
  clock.advance(KEYED_RETENTION_MS);
  expect(listedIds()).toEqual([]);
  expect(valueOf(await registry.start({ command: "true", idempotencyKey: "key" }, SCOPE)).started).toBe(true);
});

test("a process is over five seconds after its shell, even if a grandchild holds its output", async () => {
  const drain = clock.nextTimer(OUTPUT_DRAIN_MS);
  const { id } = valueOf(await registry.start({ command: "sleep 600 & echo said" }, SCOPE));
  await drain;
  expect(registry.output(id, SCOPE)).toEqual({
    kind: "done",
    value: { output: expect.any(String), running: true },
  });
  clock.advance(OUTPUT_DRAIN_MS);
  const output = await registry.outputAfterExit(id, SCOPE, FOREVER);
  expect(output).toEqual({ kind: "done", value: { output: "said\n", running: false, exitCode: 0 } });
});

test("closing ends processes and their orphans, and starts nothing more", async () => {
  const running = makeFifo(join(folder, "running"));
  const left = makeFifo(join(folder, "left"));
  const obstinate = makeFifo(join(folder, "obstinate"));
  await registry.start({ command: "exec 3>running; sleep 600 | cat" }, SCOPE);
  await run("sh -c 'exec 3>left; exec sleep 600' >/dev/null 2>&1 &");
  const { id } = valueOf(
    await registry.start({ command: `trap "" TERM; exec 3>obstinate; while :; do sleep 600; done` }, SCOPE),
  );
  await Promise.all([running.opened, left.opened, obstinate.opened]);
  const racing = registry.start({ command: "sleep 600", workdir: folder }, SCOPE);
  const closing = Promise.all([registry.close(), registry.close()]);
  await Promise.all([running.closed, left.closed]);
  void hurryEndings();
  await Promise.all([obstinate.closed, closing]);

  const refusal = { kind: "refused", status: 503, message: "The workspace agent is shutting down." };
  expect([await racing, await registry.start({ command: "true" }, SCOPE)]).toEqual([refusal, refusal]);
  expect(valueOf(registry.output(id, SCOPE))).toEqual({
    output: "",
    running: false,
    exitCode: -1,
    signal: "SIGKILL",
  });
});
