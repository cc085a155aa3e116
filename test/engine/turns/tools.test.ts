import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/domain/common/json.js";
import type { ToolOutcome } from "../../../src/domain/chats/tool-outcome.js";
import { builtInTools, findTool } from "../../../src/engine/tools/registry.js";
import { ToolError, type ToolContext } from "../../../src/engine/tools/tool.js";
import type { AgentConnection } from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFifo } from "../../agent/files/fifo.js";
import { startTestAgent, type TestAgent } from "../../agent/support.js";
import { noAgents } from "../../support/workspaces/no-agents.js";

let agent: TestAgent;
let chat: AgentConnection;
let calls = 0;

beforeAll(async () => {
  agent = await startTestAgent();
});
afterAll(() => agent.close());
beforeEach(() => {
  calls += 1;
  chat = agent.connection.forChat(`chat-${calls}`);
});

function contextWith(changes: Partial<ToolContext> = {}): ToolContext {
  calls += 1;
  return {
    workspace: () => Promise.resolve(chat),
    output: () => undefined,
    agents: noAgents,
    idempotencyKey: `call-${calls}`,
    signal: new AbortController().signal,
    ...changes,
  };
}

function call(name: string, args: JsonObject, context = contextWith()): Promise<ToolOutcome> {
  const tool = findTool(builtInTools, name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return tool.run(args, context);
}

async function resultOf(name: string, args: JsonObject, context?: ToolContext): Promise<JsonObject> {
  const { result, isError } = await call(name, args, context);
  if (isError) throw new Error(JSON.stringify(result));
  return result as JsonObject;
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== "string") throw new Error(`${JSON.stringify(value)} is not text.`);
  return value;
}

const DURATION = expect.any(Number) as unknown as number;

test("the tools are sorted, described, and describe every argument", () => {
  expect(builtInTools.map(({ name }) => name)).toEqual([
    "attach_file",
    "create_workspace",
    "edit_files",
    "execute",
    "find_files",
    "interrupt_agent",
    "list_agents",
    "list_directory",
    "list_templates",
    "message_agent",
    "process_list",
    "process_output",
    "process_signal",
    "read_file",
    "read_skill",
    "read_skill_file",
    "read_template",
    "search_files",
    "spawn_agent",
    "start_workspace",
    "stop_workspace",
    "wait_agent",
    "write_file",
  ]);
  for (const { description, inputSchema } of builtInTools) {
    expect(description.length).toBeGreaterThan(50);
    for (const property of Object.values(inputSchema.properties as Record<string, JsonObject>)) {
      expect(property.description).toEqual(expect.any(String));
    }
  }
  expect(findTool(builtInTools, "made_up")).toBeUndefined();
});

describe("execute", () => {
  test("gives output and success, without a terminal and with the chat's marks", async () => {
    expect(
      await resultOf("execute", { command: "echo $PARLEY_CHAT_AGENT $TERM $PAGER $PARLEY_CHAT_ID" }),
    ).toEqual({
      success: true,
      output: expect.stringMatching(/^true dumb cat chat-\d+\n$/),
      exit_code: 0,
      wall_duration_ms: DURATION,
    });
  });

  test("runs the same whatever it is said to be for", async () => {
    expect(
      await resultOf("execute", { command: "echo done", model_intent: "Saying that it is done" }),
    ).toEqual({
      success: true,
      output: "done\n",
      exit_code: 0,
      wall_duration_ms: DURATION,
    });
  });

  test("says what to do when the workspace has no shell", async () => {
    const shellless: AgentConnection = {
      ...chat,
      startProcess: (request, options) =>
        chat.startProcess({ ...request, env: { PATH: "/nowhere" } }, options),
    };
    const context = contextWith({ workspace: () => Promise.resolve(shellless) });
    expect(await resultOf("execute", { command: "true" }, context)).toEqual({
      success: false,
      exit_code: -1,
      wall_duration_ms: DURATION,
      error: expect.stringMatching(/no POSIX shell: `sh` is not on the PATH .* \(spawn sh ENOENT\)$/),
    });
  });

  test("reports a failing command as a result, not as a tool error", async () => {
    expect(await resultOf("execute", { command: "echo no >&2; exit 3" })).toEqual({
      success: false,
      output: "no\n",
      exit_code: 3,
      wall_duration_ms: DURATION,
    });
  });

  test("refuses arguments it cannot follow", async () => {
    const errors = [
      await call("execute", { command: "  " }),
      await call("execute", { command: "&" }),
      await call("execute", { command: "true", timeout: "soon" }),
      await call("execute", { command: "true", timeout: "0s" }),
      await call("execute", {}),
    ];
    expect(errors.map(({ isError }) => isError)).toEqual([true, true, true, true, true]);
    expect(errors.slice(0, 4).map(({ result }) => result)).toEqual([
      { error: "command is required." },
      { error: "command is required." },
      {
        error:
          'timeout "soon" is not a duration; write a number with a unit, such as "500ms", "30s", "5m" or "1h30m".',
      },
      { error: "timeout must be more than zero." },
    ]);
  });

  test("tells a directory that does not exist", async () => {
    expect(await resultOf("execute", { command: "pwd", workdir: "/no/such" })).toMatchObject({
      success: false,
      exit_code: -1,
      error: expect.stringContaining("The working directory /no/such does not exist"),
    });
  });

  test("leaves a command that takes too long running, and says how to continue", async () => {
    const fifo = makeFifo(join(agent.folder, "begun"));
    const command = "echo begun; exec 3>begun; sleep 600";
    const { output: _, ...result } = await resultOf("execute", { command, timeout: "300ms" });
    const id = textOf(result.background_process_id);
    expect(result).toEqual({
      success: false,
      exit_code: -1,
      wall_duration_ms: DURATION,
      error:
        "The command timed out after 300ms and is still running. Use process_output with this process id to wait for it, or process_signal to stop it.",
      background_process_id: id,
    });
    await fifo.opened;
    expect(await resultOf("process_output", { process_id: id, wait_timeout: "0s" })).toMatchObject({
      success: true,
      note: expect.stringContaining("still running") as string,
    });
    expect(await resultOf("process_list", {})).toMatchObject({
      processes: [{ id, running: true }],
      total: 1,
    });
    expect(await resultOf("process_signal", { process_id: id, signal: "terminate" })).toEqual({
      success: true,
      message: `Signal "terminate" sent to process ${id}.`,
    });
    expect(await resultOf("process_output", { process_id: id, wait_timeout: "1m" })).toEqual({
      success: false,
      output: "begun\n",
      exit_code: -1,
      error: "ended by SIGTERM",
    });
  });

  test.each([
    ["asked to", { command: "echo there", run_in_background: true }],
    ["the command ends with &", { command: "echo there &" }],
    ["both at once", { command: "echo there &", run_in_background: true }],
  ])("runs in the background when %s", async (_, args) => {
    const result = await resultOf("execute", args);
    expect(result).toEqual({
      success: true,
      exit_code: 0,
      wall_duration_ms: 0,
      background_process_id: expect.any(String),
    });
    const output = await resultOf("process_output", { process_id: textOf(result.background_process_id) });
    expect(output).toEqual({ success: true, output: "there\n", exit_code: 0 });
  });

  test("advises read_file to a command that dumps a file", async () => {
    await writeFile(join(agent.folder, "notes"), "text");
    expect((await resultOf("execute", { command: "cat notes" })).note).toContain("read_file");
  });

  test("shows the ends of long output and counts the rest", async () => {
    const result = await resultOf("execute", { command: "seq 1 100000", timeout: "1m" });
    const output = textOf(result.output);
    expect([output.slice(0, 4), output.slice(-7)]).toEqual(["1\n2\n", "100000\n"]);
    expect(result.truncated).toEqual({
      original_bytes: 588_895,
      retained_bytes: 32_768,
      omitted_bytes: 556_127,
      strategy: "head_tail",
    });
  });

  test("attaches when the same call is run again", async () => {
    const context = contextWith();
    const args = { command: "echo run >> runs; cat runs" };
    const first = await resultOf("execute", args, context);
    const second = await resultOf("execute", args, context);
    expect([first.output, second.output, await readFile(join(agent.folder, "runs"), "utf8")]).toEqual([
      "run\n",
      "run\n",
      "run\n",
    ]);
  });

  test("ends the command when a user interrupts", async () => {
    const fifo = makeFifo(join(agent.folder, "interrupted"));
    const controller = new AbortController();
    const reason = { kind: "interrupt" };
    const running = call(
      "execute",
      { command: "exec 3>interrupted; sleep 600 | cat", timeout: "1h" },
      contextWith({ signal: controller.signal }),
    );
    await fifo.opened;
    controller.abort(reason);
    expect(await running.catch((error: unknown) => error)).toBe(reason);
    await fifo.closed;
  });

  test("leaves the command alone when the server shuts down, and finds it again", async () => {
    const fifo = makeFifo(join(agent.folder, "gate"));
    const controller = new AbortController();
    const context = contextWith({ signal: controller.signal });
    const args = { command: "exec 3>gate; sleep 600", timeout: "200ms" };
    const running = call("execute", { ...args, timeout: "1h" }, context);
    await fifo.opened;
    const reason = { kind: "shutdown" };
    controller.abort(reason);
    expect(await running.catch((error: unknown) => error)).toBe(reason);

    const again = await resultOf("execute", args, contextWith({ idempotencyKey: context.idempotencyKey }));
    expect(again.exit_code).toBe(-1);
    await resultOf("process_signal", { process_id: textOf(again.background_process_id), signal: "kill" });
    await fifo.closed;
  });

  test("reports why there is no workspace", async () => {
    const workspace = () => Promise.reject(new ToolError("This chat has no workspace."));
    expect(await call("execute", { command: "true" }, contextWith({ workspace }))).toEqual({
      result: { error: "This chat has no workspace." },
      isError: true,
    });
  });
});

describe("process tools", () => {
  test("say that a process is unknown", async () => {
    expect(await call("process_output", { process_id: "none" })).toEqual({
      result: {
        error: "Process none was not found. It may have ended long ago; process_list shows those known.",
      },
      isError: true,
    });
    expect(await call("process_signal", { process_id: "none", signal: "kill" })).toEqual({
      result: { error: "Process none was not found." },
      isError: true,
    });
  });

  test("refuse a signal that is none", async () => {
    expect((await call("process_signal", { process_id: "none", signal: "stop" })).isError).toBe(true);
  });
});

describe("file tools", () => {
  test("write, read and edit a file", async () => {
    expect(await resultOf("write_file", { path: "src/a.txt", content: "one\ntwo\n" })).toEqual({ ok: true });
    expect(await resultOf("read_file", { path: "src/a.txt" })).toEqual({
      content: "1\tone\n2\ttwo",
      file_size: 8,
      total_lines: 2,
      lines_read: 2,
    });
    expect(
      await resultOf("edit_files", { edits: [{ path: "src/a.txt", old_text: "two", new_text: "2" }] }),
    ).toEqual({
      ok: true,
      files: [
        {
          path: "src/a.txt",
          replacements: 1,
          diff: "--- src/a.txt\n+++ src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        },
      ],
    });
    expect(await readFile(join(agent.folder, "src/a.txt"), "utf8")).toBe("one\n2\n");
  });

  test("report mistakes in the terms of their arguments", async () => {
    await writeFile(join(agent.folder, "twice"), "x x");
    expect(await call("edit_files", { edits: [{ path: "twice", old_text: "x", new_text: "y" }] })).toEqual({
      result: {
        error:
          "twice: old_text matches 2 occurrences (on line 1); include more surrounding lines to make it unique, or set replace_all. No edit was applied.",
      },
      isError: true,
    });
    expect(await call("read_file", { path: "missing" })).toEqual({
      result: { error: `${join(agent.folder, "missing")} does not exist.` },
      isError: true,
    });
    expect((await call("write_file", { path: "twice" })).isError).toBe(true);
  });
});
