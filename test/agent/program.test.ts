// The agent as a program: start, reachability, health and shutdown. Every test runs the real process.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { networkInterfaces } from "node:os";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { AGENT_CAPABILITIES } from "../../src/agent/protocol/paths.js";
import { VERSION } from "../../src/lib/version.js";
import { connectAgent } from "../../src/workspaces/agent-client/agent-connection.js";
import {
  startDialingAgent,
  type DialingAgentOptions,
  type DialingAgent,
} from "../support/workspaces/dialing-agent.js";
import { makeFifo } from "./files/fifo.js";
import { makeFolder } from "./support.js";

const TOKEN = "the-token-of-this-test";

let folder: string;
/** Shared by tests that only send requests. */
let agent: DialingAgent;
let url: string;
const others: DialingAgent[] = [];
beforeAll(async () => {
  folder = await makeFolder();
  agent = startDialingAgent({ token: TOKEN, directory: folder });
  url = await addressOf(agent);
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.end("SIGKILL")));
});
afterAll(async () => {
  await agent.end();
  await rm(folder, { recursive: true, force: true });
});

function start(options: Partial<DialingAgentOptions>): DialingAgent {
  const other = startDialingAgent({ token: TOKEN, directory: folder, ...options });
  others.push(other);
  return other;
}

async function addressOf(started: DialingAgent): Promise<string> {
  await started.untilOutput(1);
  return started.lines[0]?.url ?? "";
}

async function ask(path: string, headers: Record<string, string> = {}, base = url) {
  const response = await fetch(new URL(path, base), {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

test("[A1] nothing is answered without the token, not even what exists", async () => {
  const answers = await Promise.all(
    ["/v1/health", "/metrics", "/v1/processes", "/nowhere"].flatMap((path) =>
      ["", "Bearer", "Bearer wrong", `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`].map(
        async (authorization) => (await ask(path, { authorization })).text,
      ),
    ),
  );
  expect(new Set(answers)).toEqual(new Set(['{"message":"A valid bearer token is required."}']));
});

test("[A2] an agent listens on this machine's loopback alone unless configured otherwise", async () => {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  expect(new URL(url).hostname).toBe("127.0.0.1");
  const open = start({ flags: ["--host", "0.0.0.0"] });
  const { port } = new URL(await addressOf(open));
  await open.untilLogged(({ msg }) => String(msg).includes("without TLS"));
  if (outside === undefined) return;
  expect(await isReachable(outside, Number(port))).toBe(true);
  expect(await isReachable(outside, Number(new URL(url).port))).toBe(false);
});

function isReachable(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

test("[A3] an agent with a certificate speaks HTTPS and nothing else", async () => {
  const [cert, key] = await makeCertificate();
  const secure = start({ flags: ["--tls-cert", cert, "--tls-key", key] });
  const address = await addressOf(secure);
  expect(new URL(address).protocol).toBe("https:");
  const healthRequest = request(new URL("/v1/health", address), {
    ca: await readFile(cert),
    headers: { authorization: `Bearer ${TOKEN}` },
  }).end();
  const [response] = (await once(healthRequest, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(200);
  await expect(fetch(address.replace("https", "http"))).rejects.toThrow("fetch failed");
});

async function makeCertificate(): Promise<[cert: string, key: string]> {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  await promisify(execFile)("openssl", ["req", ...kind, ...subject, ...files]);
  return [cert, key];
}

test("[A4] one line on standard output has its address, and the log is JSON lines elsewhere", async () => {
  const quiet = start({ environment: { PARLEY_AGENT_LOG_LEVEL: "info" } });
  await quiet.untilOutput(1);
  const code = await quiet.end();
  expect({ code, lines: quiet.lines, log: quiet.log }).toEqual({
    code: 0,
    lines: [
      {
        event: "listening",
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
        instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      },
    ],
    log: [expect.objectContaining({ level: 30, name: "parley-agent", reason: "SIGTERM" })],
  });
});

test("[A5] health has the agent's version and capabilities, and no secret", async () => {
  const { text } = await ask("/v1/health");
  expect(JSON.parse(text)).toEqual({
    version: 2,
    programVersion: VERSION,
    capabilities: AGENT_CAPABILITIES,
    workingDirectory: folder,
    instanceId: agent.lines[0]?.instanceId,
  });
  expect(AGENT_CAPABILITIES).toEqual(expect.arrayContaining(["processes", "files", "context"]));
  expect(text).not.toContain(TOKEN);
});

test("[A6] metrics count commands, their output and their ends, and requests by route and status", async () => {
  const measured = start({});
  const address = await addressOf(measured);
  const connection = connectAgent({ url: address, token: TOKEN });
  const run = async (command: string) => {
    const { id } = await connection.startProcess({ command });
    return connection.processOutput({ id, wait: true });
  };
  await run("printf 12345");
  await run("exit 3");
  await run("kill -9 $$");
  const fifo = makeFifo(join(folder, "running"));
  const lasting = await connection.startProcess({ command: "exec 3>running; sleep 600" });
  await fifo.opened;
  await ask("/nowhere/at/all?secret=1", {}, address);
  await ask("/v1/health", { authorization: "none" }, address);
  const { type, text } = await ask("/metrics", {}, address);
  const samples = text.split("\n").filter((line) => line.startsWith("parley_agent_"));
  expect(type).toContain("text/plain");
  expect(samples).toEqual(
    expect.arrayContaining([
      "parley_agent_processes_running 1",
      "parley_agent_process_starts_total 4",
      "parley_agent_process_output_bytes_total 5",
      'parley_agent_process_exits_total{outcome="success"} 1',
      'parley_agent_process_exits_total{outcome="failure"} 1',
      'parley_agent_process_exits_total{outcome="signal"} 1',
      'parley_agent_requests_total{method="POST",route="/v1/processes",status="200"} 4',
      'parley_agent_requests_total{method="GET",route="none",status="404"} 1',
      'parley_agent_requests_total{method="GET",route="/v1/health",status="401"} 1',
      "parley_agent_registered 0",
    ]),
  );
  expect(text).toContain('parley_agent_request_duration_seconds_count{route="/v1/processes"} 4');
  expect(text).not.toContain("secret");
  await connection.signalProcess(lasting.id, "kill");
  await fifo.closed;
});

test("[A7] at level debug each request is one line with its chat, and neither query nor token", async () => {
  const chatId = "chat_of-this:test";
  await ask("/v1/processes?q=private", { "parley-chat-id": chatId });
  await agent.untilLogged((line) => line["chatId"] === chatId);
  expect(agent.log.find((line) => line["chatId"] === chatId)).toEqual({
    ...{ level: 20, time: expect.any(Number) as number, pid: agent.child.pid, name: "parley-agent" },
    hostname: expect.any(String) as string,
    ...{ method: "GET", path: "/v1/processes", status: 200, elapsedMs: expect.any(Number) as number, chatId },
    msg: "request completed",
  });
  expect(JSON.stringify(agent.log)).not.toMatch(new RegExp(`private|${TOKEN}`));
});

test("[A8] settings that make no sense end the program with what is wrong, and never show the token", async () => {
  const short = "hunter2-short";
  const cases: Partial<DialingAgentOptions>[] = [
    { token: short },
    { flags: ["--tls-cert", "missing.pem", "--tls-key", "missing.pem"] },
    { flags: ["--server", "wss://parley.example", "--port", "1"] },
  ];
  const ends = await Promise.all(
    cases.map(async (options) => {
      const failed = start(options);
      await once(failed.child.stderr, "close");
      const words = failed.log.map(({ msg }) => String(msg)).join("\n");
      return { code: await failed.end(), words: words.split("\n\nUsage")[0] ?? "" };
    }),
  );
  expect(ends.map(({ code }) => code)).toEqual(cases.map(() => 2));
  expect(ends.map(({ words }) => words)).toEqual(
    ["PARLEY_AGENT_TOKEN: must have at least 16 characters", "ENOENT", "does not listen"].map(
      (words) => expect.stringContaining(words) as string,
    ),
  );
  expect(JSON.stringify(ends)).not.toContain(short);
});

test("[A8] the token may be in a file, and commands do not find it in their environment", async () => {
  const path = join(folder, "token");
  await writeFile(path, `${TOKEN}\n`);
  await chmod(path, 0o600);
  const started = start({ token: "", flags: ["--token-file", "token"] });
  const connection = connectAgent({ url: await addressOf(started), token: TOKEN });
  const { id } = await connection.startProcess({ command: "env" });
  const { output } = await connection.processOutput({ id, wait: true });
  expect(output).toContain("HOME=");
  expect(output).not.toContain(TOKEN);
  expect(output).not.toContain("PARLEY_AGENT_TOKEN");
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "[A9] %s ends the agent with all its commands, also those that do not listen",
  async (signal) => {
    const stopped = start({});
    const connection = connectAgent({ url: await addressOf(stopped), token: TOKEN });
    const fifo = makeFifo(join(folder, `held-${signal}`));
    await connection.startProcess({ command: `trap '' TERM HUP INT; exec 3>held-${signal}; sleep 600` });
    await fifo.opened;
    expect(await stopped.end(signal)).toBe(0);
    await fifo.closed;
  },
);

test("[A9] an error that nothing catches is logged, ends all its commands, and the agent with a code of its own", async () => {
  const trap = join(folder, "trap.mjs");
  const bug = `Promise.reject(new Error("a bug", { cause: new Error("its cause") }))`;
  await writeFile(trap, `process.on("SIGUSR2", () => void ${bug});`);
  const broken = start({ environment: { NODE_OPTIONS: `--import=${trap}` } });
  const connection = connectAgent({ url: await addressOf(broken), token: TOKEN });
  const fifo = makeFifo(join(folder, "held-by-broken"));
  await connection.startProcess({ command: "exec sleep 600 > held-by-broken" });
  await fifo.opened;
  expect(await broken.end("SIGUSR2")).toBe(70);
  await fifo.closed;
  const fatal = broken.log.find(({ msg }) => String(msg).includes("uncaught error"));
  expect(JSON.stringify(fatal)).toMatch(/a bug.*its cause/);
});

test("[A10] malformed requests are refused with a message, and the agent continues", async () => {
  const { port } = new URL(url);
  const socket = connect({ host: "127.0.0.1", port: Number(port) });
  socket.end("\0\0 nonsense \r\n\r\n");
  await once(socket.resume(), "close");
  expect(await ask("/v1/processes", { "parley-chat-id": "not a chat id" })).toMatchObject({
    status: 400,
    text: '{"message":"The header parley-chat-id is not valid.","field":"parley-chat-id"}',
  });
  const body = JSON.stringify({ command: "x".repeat(2 * 1024 * 1024) });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const refusal = await fetch(new URL("/v1/processes", url), { method: "POST", body, headers }).then(
    ({ status }) => status,
    () => 413, // The connection may be closed while the body is still being sent.
  );
  expect(refusal).toBe(413);
  expect((await ask("/v1/health")).status).toBe(200);
});

test.skipIf(process.platform !== "linux")(
  "[A8] neither variables nor arguments of an agent show its token",
  async () => {
    const started = start({ flags: [], environment: { AWS_SECRET_ACCESS_KEY: "a-key-of-the-test" } });
    await addressOf(started);
    const shown = ["environ", "cmdline"].map((name) =>
      readFileSync(`/proc/${started.child.pid}/${name}`, "utf8"),
    );
    expect(shown.join("\n")).not.toMatch(/a-key-of-the-test|the-token-of-this-test/);
    expect(shown[1]).toContain("agent");
  },
);
