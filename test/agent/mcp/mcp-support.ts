// Shared by tests of MCP servers: the test server's command, configuration files, and process checks.
import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  AgentError,
  type AgentConnection,
  type McpToolsAnswer,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import type { McpPermissions } from "../../../src/domain/mcp/workspace-entry.js";
import { testProgram } from "../../support/build.js";
import { makeFolder, startTestAgent, type TestAgent } from "../support.js";

const root = resolve(import.meta.dirname, "../../..");

/** Of a server over stdio. */
export type Entry = { command: string; args: string[]; env: Record<string, string> };

/** An entry that starts the test's own server. */
export function testServer(env: Record<string, string> = {}, ...args: string[]): Entry {
  return {
    command: process.execPath,
    args: [testProgram("mcp-server"), ...args],
    env,
  };
}

/** An entry that starts one of the official servers. */
export function officialServer(name: "everything" | "filesystem", ...args: string[]): Entry {
  return { command: process.execPath, args: [officialProgram(name), ...args], env: {} };
}

/** Its state is stored in the file. */
export function memoryServer(file: string): Entry {
  return { command: process.execPath, args: [officialProgram("memory")], env: { MEMORY_FILE_PATH: file } };
}

function officialProgram(name: string): string {
  return join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
}

export function writeServers(
  folder: string,
  mcpServers: Record<string, unknown>,
  file = ".mcp.json",
): Promise<void> {
  return writeFile(join(folder, file), JSON.stringify({ mcpServers }));
}

/** The text of a call's only part. */
export async function callText(
  connection: AgentConnection,
  name: string,
  args: Record<string, string | number> = {},
): Promise<string> {
  const { parts } = await connection.callMcpTool({ name, arguments: args });
  const [part] = parts;
  if (part?.type !== "text") throw new Error(`There is no text in ${JSON.stringify(parts)}.`);
  return part.text;
}

/** The refusal of a request. */
export async function refusal(request: Promise<unknown>): Promise<{ status: number; message: string }> {
  const error = await request.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw new Error("The request was not refused.", { cause: error });
  return { status: error.status, message: error.message };
}

/** Polls until the condition is met; fails after 20 s. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`It never came to pass that ${what}.`);
    await new Promise((resolveSoon) => setTimeout(resolveSoon, 20));
  }
}

/** Whether a process is alive; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}

export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

/** Permission to start whatever is configured. */
export const EVERYTHING: McpPermissions = { revision: 0, isEverything: true, hashes: [], hosts: [] };

/** A real agent with three MCP configuration files, which may start everything, reused by consecutive tests. */
export type McpWorkspace = {
  home: string;
  agent: TestAgent;
  inWorkspace(path: string): string;
  /** Waits until every server, except one that hangs, is ready or has failed. */
  list(hanging?: string): Promise<McpToolsAnswer>;
  /** What the test's server reports about itself. */
  where(server: string): Promise<{ cwd: string; args: string[]; env: NodeJS.ProcessEnv; pid: number }>;
  /** Removes all servers from the configuration; those of the previous test end. */
  forget(): Promise<void>;
  close(): Promise<void>;
};

export async function startMcpWorkspace(): Promise<McpWorkspace> {
  const home = await makeFolder();
  const agent = await startTestAgent({
    HOME: home,
    GREETING: "hello",
    EMPTY: "",
    PARLEY_AGENT_MCP_CONFIG_FILES: ".mcp.json, ~/mine.json,more/servers.json",
  });
  const { connection } = agent;
  await connection.mcpTools({ permissions: EVERYTHING });
  const inWorkspace = (path: string) => join(agent.folder, path);
  return {
    home,
    agent,
    inWorkspace,
    async list(hanging = "") {
      let answer = await connection.mcpTools();
      const isSettled = () =>
        answer.servers.every(({ name, status }) => status !== "starting" || name === hanging);
      await until(async () => {
        if (!isSettled()) answer = await connection.mcpTools();
        return isSettled();
      }, "the servers are ready");
      return answer;
    },
    where: async (server) =>
      JSON.parse(await callText(connection, `${server}__where`)) as Awaited<
        ReturnType<McpWorkspace["where"]>
      >,
    async forget() {
      const paths = [".mcp.json", "more", "log", "starts", "repaired"].map(inWorkspace);
      const all = [...paths, join(home, "mine.json")];
      await Promise.all(all.map((path) => rm(path, { recursive: true, force: true })));
      await connection.mcpTools();
    },
    async close() {
      await agent.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The error of each server, or its status. */
export function statuses({ servers }: McpToolsAnswer): Record<string, string> {
  return Object.fromEntries(servers.map(({ name, status, error }) => [name, error ?? status]));
}
