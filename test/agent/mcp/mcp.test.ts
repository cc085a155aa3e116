// The workspace's own MCP servers: their configuration files and the list of their tools, from a real agent.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  callText,
  isAlive,
  linesOf,
  refusal,
  startMcpWorkspace,
  statuses,
  testServer,
  until,
  writeServers,
  type McpWorkspace,
} from "./mcp-support.js";

let workspace: McpWorkspace;
beforeAll(async () => {
  workspace = await startMcpWorkspace();
});
afterEach(() => workspace.forget());
afterAll(() => workspace.close());

describe("the files", () => {
  test("[M1] [M5] configure servers in several files; the first that configures one wins", async () => {
    await mkdir(workspace.inWorkspace("more"));
    await writeServers(workspace.agent.folder, { one: testServer({}, "workspace") });
    await writeServers(
      workspace.home,
      { one: testServer({}, "home"), two: testServer({}, "home") },
      "mine.json",
    );
    await writeServers(
      workspace.agent.folder,
      { two: testServer({}, "more"), three: testServer({}, "more") },
      "more/servers.json",
    );
    expect(statuses(await workspace.list())).toEqual({ one: "ready", two: "ready", three: "ready" });
    const args = await Promise.all(
      ["one", "two", "three"].map(async (name) => (await workspace.where(name)).args),
    );
    expect(args).toEqual([["workspace"], ["home"], ["more"]]);
  });

  test("[M1] [M11] that are not there, and files without servers, name none", async () => {
    await writeFile(workspace.inWorkspace(".mcp.json"), '{"other": true}');
    expect(await workspace.list()).toEqual({
      revision: expect.any(String) as string,
      servers: [],
      tools: [],
      fileProblems: [],
      requests: [],
    });
  });

  test("[M3] [M4] [M9] [M11] may be wrong in part: the rest is used, and each error is reported", async () => {
    await writeServers(workspace.agent.folder, {
      good: testServer({ TOOLS: "where" }),
      a__b: testServer(),
      _edge: testServer(),
      edge_: testServer(),
      nothing: {},
      "wrong-type": { type: "carrier-pigeon", url: "http://x" },
      "wrong-url": { type: "http", url: "ftp://x" },
      "no-command": { type: "stdio", url: "http://x" },
      "wrong-args": { command: "x", args: "y" },
      missing: { command: "no-such-program-anywhere" },
      broken: { command: "sh", args: ["-c", "echo Where is my cheese? >&2; exit 3"] },
    });
    await writeFile(join(workspace.home, "mine.json"), '{"mcpServers": {');
    const answer = await workspace.list();
    expect(statuses(answer)).toEqual({
      good: "ready",
      a__b: 'A server\'s name must not contain "__".',
      _edge: 'A server\'s name must not begin or end with "_".',
      edge_: 'A server\'s name must not begin or end with "_".',
      nothing: "Either a command or a url is required.",
      "wrong-type": 'The type "carrier-pigeon" is not known; it may be stdio, http or sse.',
      "wrong-url": "A server of type http needs a url that begins with http:// or https://.",
      "no-command": "A server of type stdio needs a command.",
      "wrong-args": expect.stringContaining("args") as string,
      missing: "It cannot be started: spawn no-such-program-anywhere ENOENT",
      broken:
        "It cannot be started: It ended (exit code 3) before it answered. Its last output: Where is my cheese?",
    });
    expect(answer.fileProblems).toEqual([
      {
        path: join(workspace.home, "mine.json"),
        message: expect.stringMatching(/^It is not JSON: /) as string,
      },
    ]);
    expect(answer.tools).toEqual([
      {
        name: "good__where",
        serverName: "good",
        description: "",
        inputSchema: { type: "object", properties: {} },
      },
    ]);
    expect(
      await refusal(workspace.agent.connection.callMcpTool({ name: "nothing__x", arguments: {} })),
    ).toEqual({
      status: 404,
      message: "The MCP server nothing cannot be used: Either a command or a url is required.",
    });
  });

  test("[M6] [M7] fill in variables of the agent's environment, without the agent's own", async () => {
    await writeServers(workspace.agent.folder, {
      one: {
        ...testServer({
          A: "$GREETING ${GREETING}!",
          B: "<$NOWHERE${NOWHERE}${EMPTY:-fallback}${GREETING:-unused}>",
          C: "costs 5$ $",
          TOKEN: "${PARLEY_AGENT_TOKEN}",
          GREETING: "overridden",
        }),
        args: [...testServer({}, "$GREETING", "${GREETING}-${NOWHERE:-x}").args],
      },
    });
    const { cwd, args, env } = await workspace.where("one");
    const { A, B, C, TOKEN, GREETING, HOME, PARLEY_AGENT_TOKEN } = env;
    expect({ cwd, args, A, B, C, TOKEN, GREETING, HOME, PARLEY_AGENT_TOKEN }).toEqual({
      cwd: workspace.agent.folder,
      args: ["$GREETING", "hello-x"],
      A: "hello hello!",
      B: "<fallbackhello>",
      C: "costs 5$ $",
      TOKEN: "",
      GREETING: "overridden",
      HOME: workspace.home,
      PARLEY_AGENT_TOKEN: undefined,
    });
  });
});

describe("a change of the files", () => {
  test("[M13] [M14] is found by the next list: unchanged servers continue, the others are started or ended", async () => {
    await writeServers(workspace.agent.folder, {
      same: testServer(),
      changed: testServer({}, "old"),
      removed: testServer(),
    });
    await workspace.list();
    const before = {
      same: await workspace.where("same"),
      changed: await workspace.where("changed"),
      removed: await workspace.where("removed"),
    };
    await writeServers(workspace.agent.folder, {
      added: testServer(),
      changed: testServer({}, "new"),
      same: testServer(),
    });
    expect(statuses(await workspace.list())).toEqual({ added: "ready", changed: "ready", same: "ready" });
    const after = { same: await workspace.where("same"), changed: await workspace.where("changed") };
    expect([after.same.pid === before.same.pid, after.changed.args]).toEqual([true, ["new"]]);
    await until(
      () => !isAlive(before.removed.pid) && !isAlive(before.changed.pid),
      "the former servers are gone",
    );
  });

  test("[M14] does not cut the calls of a server that has to go", async () => {
    const log = workspace.inWorkspace("log");
    await writeServers(workspace.agent.folder, { one: testServer({}, "old") });
    const { pid } = await workspace.where("one");
    const leaving = new AbortController();
    const call = { name: "one__slow", arguments: { log } };
    const called = workspace.agent.connection
      .callMcpTool(call, { signal: leaving.signal })
      .catch(() => "left");
    await until(() => linesOf(log).includes("called"), "the call has begun");
    await writeServers(workspace.agent.folder, { one: testServer({}, "new") });
    await workspace.list();
    const during = await workspace.where("one");
    expect([during.args, isAlive(pid)]).toEqual([["new"], true]);
    leaving.abort(new Error("enough"));
    expect(await called).toBe("left");
    await until(() => !isAlive(pid), "the former server is gone");
  });

  test("[M9] [M13] is found by the agent itself, also in folders that were not there", async () => {
    const starts = workspace.inWorkspace("starts");
    await writeServers(workspace.agent.folder, { one: testServer({ STARTS: starts }, "1") });
    await until(() => linesOf(starts).length === 1, "the server is started");
    await mkdir(workspace.inWorkspace("more"));
    await writeServers(workspace.agent.folder, { two: testServer({ STARTS: starts }) }, "more/servers.json");
    await until(() => linesOf(starts).length === 2, "the second file is found");
    await rm(workspace.inWorkspace(".mcp.json"));
    await until(() => !isAlive(Number(linesOf(starts)[0])), "the removed server is gone");
  });

  test("[M15] that breaks a server leaves it as it was, and says so", async () => {
    await writeServers(workspace.agent.folder, { one: testServer({}, "good") });
    await workspace.list();
    const { pid } = await workspace.where("one");
    await writeServers(workspace.agent.folder, { one: { command: "no-such-program-anywhere" } });
    const changed = await workspace.list();
    expect([statuses(changed), changed.tools.length > 0, (await workspace.where("one")).pid]).toEqual([
      {
        one:
          "Its changed configuration fails; the former one stays in use. " +
          "It cannot be started: spawn no-such-program-anywhere ENOENT",
      },
      true,
      pid,
    ]);
    await writeFile(workspace.inWorkspace(".mcp.json"), "{ half written");
    const unreadable = await workspace.list();
    expect([unreadable.fileProblems.length, (await workspace.where("one")).pid]).toEqual([1, pid]);
    await writeServers(workspace.agent.folder, { one: testServer({}, "good") });
    expect([statuses(await workspace.list()), (await workspace.where("one")).pid]).toEqual([
      { one: "ready" },
      pid,
    ]);
  });

  test("[M16] starts each server once, however many ask", async () => {
    const starts = workspace.inWorkspace("starts");
    await writeServers(workspace.agent.folder, { one: testServer({ STARTS: starts }) });
    const answers = await Promise.all([...Array(20).keys()].map(() => workspace.list()));
    const text = await Promise.all(
      [...Array(20).keys()].map(() => callText(workspace.agent.connection, "one__progress")),
    );
    expect([answers.every((answer) => statuses(answer).one === "ready"), linesOf(starts).length]).toEqual([
      true,
      1,
    ]);
    expect(new Set(text)).toEqual(new Set(["told"]));
  });
});

describe("a list", () => {
  test("[M12] is cached; a server that announces changed tools is listed again", async () => {
    await writeServers(workspace.agent.folder, { one: testServer({ TOOLS: "grow" }) });
    const first = await workspace.list();
    expect((await workspace.list()).revision).toBe(first.revision);
    await callText(workspace.agent.connection, "one__grow", { name: "new" });
    await until(async () => (await workspace.list()).tools.length === 2, "the new tool is listed");
    expect((await workspace.list()).tools.map(({ name }) => name)).toEqual(["one__grow", "one__new"]);
  });

  test("[M8] [M17] does not wait for a server that has failed, and a refresh tries it at once", async () => {
    const starts = workspace.inWorkspace("starts");
    const failing = `echo >> ${starts}; test -e ${workspace.inWorkspace("repaired")} || exit 1; exec "$0" "$@"`;
    const { command, args } = testServer();
    await writeServers(workspace.agent.folder, {
      one: { command: "sh", args: ["-c", failing, command, ...args] },
    });
    await workspace.list();
    for (let asked = 0; asked < 10; asked += 1) await workspace.list();
    const startsInBackoff = linesOf(starts).length;
    expect(
      await refusal(workspace.agent.connection.callMcpTool({ name: "one__where", arguments: {} })),
    ).toEqual({
      status: 502,
      message: expect.stringMatching(
        /^The MCP server one is not available\. .* The next attempt is in \d+ s\.$/,
      ) as string,
    });
    await writeFile(workspace.inWorkspace("repaired"), "");
    expect(startsInBackoff).toBe(1);
    expect(statuses(await workspace.agent.connection.mcpTools({ refresh: true }))).toEqual({ one: "ready" });
  });

  test("[M9] [M11] has the tools of the others while a server does not answer", async () => {
    await writeServers(workspace.agent.folder, {
      hangs: testServer({ HANGS: "1" }),
      one: testServer({ TOOLS: "where" }),
    });
    const answer = await workspace.list("hangs");
    expect([statuses(answer), answer.tools.map(({ name }) => name)]).toEqual([
      { hangs: "starting", one: "ready" },
      ["one__where"],
    ]);
  });

  test("[M10] comes also from a server that prints without end on stderr", async () => {
    await writeServers(workspace.agent.folder, { one: testServer({ NOISE: "1000000" }) });
    expect(statuses(await workspace.list())).toEqual({ one: "ready" });
  });
});
