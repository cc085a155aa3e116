// An MCP server for tests, over stdio, that can do what honest ones only do by accident. Its environment says how it
// begins: STARTS is a file that gets a line at each start, HANGS makes it never answer, it prints NOISE bytes on
// stderr.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type ServerNotification,
} from "@modelcontextprotocol/sdk/types.js";

const {
  STARTS,
  HANGS,
  NOISE,
  TOOLS = "where,kinds,die,slow,grow,parent,ignores,progress,refuse,huge",
} = process.env;
if (STARTS !== undefined) appendFileSync(STARTS, `${process.pid}\n`);
if (NOISE !== undefined) process.stderr.write(`${"x".repeat(Number(NOISE))}\n`.repeat(2));
process.stdout.write("Hello, this line is no message.\n");

const names = new Set(TOOLS.split(","));
const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: { listChanged: true } } });

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [...names].map((name) => ({ name, inputSchema: { type: "object", properties: {} } })),
}));

type Extra = { signal: AbortSignal; sendNotification(notification: ServerNotification): Promise<void> };

async function call(
  name: string,
  args: Record<string, unknown>,
  token: unknown,
  extra: Extra,
): Promise<object> {
  switch (name) {
    case "where":
      return text(
        JSON.stringify({
          cwd: process.cwd(),
          args: process.argv.slice(2),
          env: process.env,
          pid: process.pid,
        }),
      );
    case "kinds":
      return { content: KINDS, structuredContent: { answer: 42 } };
    case "die":
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    case "slow":
      appendFileSync(String(args.log), "called\n");
      return new Promise((resolve) =>
        extra.signal.addEventListener("abort", () => {
          appendFileSync(String(args.log), "cancelled\n");
          resolve(text("too late"));
        }),
      );
    case "grow":
      names.add(String(args.name));
      await server.sendToolListChanged();
      return text("grown");
    case "parent":
      return text(String(spawn("sleep", ["600"], { stdio: ["ignore", "inherit", "inherit"] }).pid));
    case "ignores":
      process.on("SIGTERM", () => undefined);
      process.stdin.on("end", () => setInterval(() => undefined, 1_000));
      return text(
        String(spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], { stdio: "ignore" }).pid),
      );
    case "progress":
      if (typeof token !== "number" && typeof token !== "string") return text("progress not requested");
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken: token, progress: 1 },
      });
      return text("told");
    case "huge":
      return text("x".repeat(Number(args.bytes)));
    case "refuse":
      return { ...text("I would rather not."), isError: true };
    default:
      throw new Error(`There is no ${name}.`);
  }
}

const KINDS = [
  { type: "text", text: "words" },
  { type: "image", data: "aW1hZ2U=", mimeType: "image/png" },
  { type: "audio", data: "c291bmQ=", mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "a:text", mimeType: "text/plain", text: "inside" } },
  { type: "resource", resource: { uri: "a:blob", mimeType: "application/zip", blob: "emlw" } },
  { type: "resource_link", uri: "a:link", name: "Link", description: "Leads on.", mimeType: "text/html" },
  { type: "hologram", beam: 1 },
];

function text(value: string): object {
  return { content: [{ type: "text", text: value }] };
}

// Not `setRequestHandler`, which only sends what the protocol allows.
server.fallbackRequestHandler = async (request, extra) => {
  const { params } = CallToolRequestSchema.parse(request);
  return { ...(await call(params.name, params.arguments ?? {}, params._meta?.progressToken, extra)) };
};

if (HANGS === undefined) await server.connect(new StdioServerTransport());
else setInterval(() => undefined, 60_000);
