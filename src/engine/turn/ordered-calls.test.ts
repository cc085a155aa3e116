import { expect, test } from "vitest";
import { inOrder } from "./ordered-calls.js";
import type { RunTool } from "./ports.js";

const signal = new AbortController().signal;

test("a call starts after the earlier ones that it waits for, concurrently with all others", async () => {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const run: RunTool = ({ toolCallId }) => {
    log.push(`begin ${toolCallId}`);
    return new Promise((resolve, reject) => {
      ends.set(toolCallId, () => {
        log.push(`end ${toolCallId}`);
        if (toolCallId === "send 2") reject(new Error("It failed."));
        else resolve({ result: toolCallId, isError: false });
      });
    });
  };
  const after: Record<string, readonly string[]> = { send: ["send"], wait: ["send"] };
  const ordered = inOrder(run, (toolName) => after[toolName] ?? []);
  const call = (toolCallId: string) => {
    const toolName = toolCallId.split(" ")[0] ?? "";
    return ordered({ toolCallId, toolName, arguments: {} }, signal, () => undefined);
  };
  const end = async (id: string) => {
    ends.get(id)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const calls = ["wait 0", "send 1", "read 1", "send 2", "wait 1", "wait 2"].map(call);
  const settled = Promise.allSettled(calls);
  await end("send 1");
  await end("send 2");
  for (const id of ["wait 2", "wait 1", "wait 0", "read 1"]) await end(id);
  expect({ log, outcomes: (await settled).map(({ status }) => status) }).toEqual({
    log: [
      ...["begin wait 0", "begin send 1", "begin read 1"],
      ...["end send 1", "begin send 2", "end send 2", "begin wait 1", "begin wait 2"],
      ...["end wait 2", "end wait 1", "end wait 0", "end read 1"],
    ],
    outcomes: ["fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
  });
});
