/**
 * The workspace's own MCP servers, as its configuration files describe them: synchronized with the files, listed and
 * called. No entry is started before the agent's server has allowed it. Servers are independent of requests: they run
 * until their entry is removed, its permission is taken back, or the agent closes.
 */
import { createHash } from "node:crypto";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { resolvePaths, type ContextPaths } from "../context/paths.js";
import { refused, type Outcome } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import { chooseWorkingDirectory } from "../process/working-directory.js";
import {
  MAX_MCP_LIST_WAIT_MS,
  MCP_NAME_SEPARATOR,
  type McpCallAnswer,
  type McpCallRequest,
  type McpRequest,
  type McpServer,
  type McpTool,
  type McpToolsAnswer,
} from "../protocol/mcp.js";
import { isEntryAllowed, NO_MCP_PERMISSIONS, type McpPermissions } from "../../domain/mcp/workspace-entry.js";
import { readConfigFiles, snapshotFiles, type ConfigFiles } from "./config-files.js";
import { ConfigWatch } from "./config-watch.js";
import type { EntrySource, ServerConfig } from "./config-text.js";
import { ServerSlot } from "./server-slot.js";
import { SupervisedServer } from "./supervised-server.js";

export type WorkspaceMcpServersOptions = {
  /** The agent's own directory. */
  directory: string;
  homeDirectory: string;
  contextPaths: ContextPaths;
  /** Inherited by servers, and used to expand variables in their entries. */
  environment: Environment;
  clock: Clock;
  log: Log;
};

/** `permissions`: absent = those that the agent has. */
type ListRequest = { permissions?: McpPermissions | undefined; isForced: boolean; waitMs: number };

const NOT_ALLOWED = "is not allowed: a user of the workspace must allow it before it starts.";
const CHANGE_NOT_ALLOWED = "Its changed entry is not allowed yet.";

export class WorkspaceMcpServers {
  readonly #options: WorkspaceMcpServersOptions;
  readonly #watch: ConfigWatch;
  #slots = new Map<string, ServerSlot>();
  #permissions = NO_MCP_PERMISSIONS;
  #files: ConfigFiles = { servers: [], fileProblems: [] };
  /** Fingerprint of the files from before the last read; null = never read. */
  #snapshot: string | null = null;
  #reloading: Promise<void> | undefined;
  readonly #retiring = new Map<SupervisedServer, Promise<void>>();
  #isClosed = false;

  constructor(options: WorkspaceMcpServersOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#watch = new ConfigWatch({ clock, log, onChange: () => void this.#reloadAndPrepare() });
  }

  /** Reads the files and follows their changes. Returns at once. */
  start(): void {
    void this.#reloadAndPrepare();
  }

  /**
   * All servers and their tools, according to the files' current content. Waits for starting servers, but not for those
   * that have failed before; a forced list waits for all. Never rejects.
   */
  async list({ permissions, isForced, waitMs }: ListRequest): Promise<McpToolsAnswer> {
    if (permissions !== undefined) this.#permit(permissions);
    const isOver = new AbortController();
    await this.#reload();
    await Promise.race([
      this.#prepare(isForced),
      sleep(this.#options.clock, Math.min(waitMs, MAX_MCP_LIST_WAIT_MS), isOver.signal),
    ]);
    isOver.abort();
    return this.#answer();
  }

  /** Refusals: an invalid name (400), an unknown server (404), a failed call (502), a closed agent (503). */
  async call(request: McpCallRequest, signal: AbortSignal): Promise<Outcome<McpCallAnswer>> {
    const at = request.name.indexOf(MCP_NAME_SEPARATOR);
    const [server, tool] = [request.name.slice(0, at), request.name.slice(at + MCP_NAME_SEPARATOR.length)];
    if (at <= 0 || tool === "") {
      const form = `A tool's name is its server's, "${MCP_NAME_SEPARATOR}", and its own.`;
      return refused(400, `${JSON.stringify(request.name)} is not the name of a tool. ${form}`, {
        field: "name",
      });
    }
    if (!this.#slots.has(server)) await this.#reload();
    if (this.#isClosed) return refused(503, "The workspace agent is closing.");
    const slot = this.#slots.get(server);
    if (slot !== undefined) return slot.call({ tool, args: request.arguments, signal });
    const entry = this.#files.servers.find(({ name }) => name === server);
    if (entry === undefined) {
      return refused(404, `There is no MCP server named ${JSON.stringify(server)}.`, { field: "name" });
    }
    if ("config" in entry) return refused(403, `The MCP server ${server} ${NOT_ALLOWED}`, { field: "name" });
    return refused(404, `The MCP server ${server} cannot be used: ${entry.problem}`, { field: "name" });
  }

  /** Ends all servers and their process groups; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#watch.close(), this.#reloading]);
    const servers = [...this.#slots.values()].flatMap((slot) => slot.servers);
    await Promise.all([...servers, ...this.#retiring.keys()].map((server) => server.close()));
    await Promise.all(this.#retiring.values());
  }

  // ── what may run ──────────────────────────────────────────────────────────

  /** Ends what is no longer allowed, calls included, and starts what is now. Older permissions change nothing. */
  #permit(permissions: McpPermissions): void {
    if (this.#isClosed || permissions.revision < this.#permissions.revision) return;
    this.#permissions = permissions;
    const isForbidden = ({ config }: SupervisedServer) => !this.#isAllowed(config.source);
    for (const [name, slot] of this.#slots) {
      if (!slot.servers.some(isForbidden)) continue;
      this.#slots.delete(name);
      for (const server of slot.servers) this.#release(server, true);
    }
    for (const server of this.#retiring.keys()) if (isForbidden(server)) this.#release(server, true);
    this.#adopt(this.#files);
  }

  #isAllowed({ entry, hash }: EntrySource): boolean {
    return isEntryAllowed(this.#permissions, entry, hash);
  }

  // ── the files ────────────────────────────────────────────────────────────

  async #reloadAndPrepare(): Promise<void> {
    await this.#reload();
    await this.#prepare(false);
  }

  /** Single-flight: concurrent callers share one reload. */
  #reload(): Promise<void> {
    this.#reloading ??= this.#reloadOnce().finally(() => (this.#reloading = undefined));
    return this.#reloading;
  }

  async #reloadOnce(): Promise<void> {
    if (this.#isClosed) return;
    const { environment, homeDirectory, contextPaths, log } = this.#options;
    const workingDirectory = await this.#workingDirectory();
    const paths = resolvePaths(contextPaths.mcpConfigFiles, { workingDirectory, homeDirectory });
    const snapshot = await snapshotFiles(paths);
    if (snapshot === this.#snapshot) return;
    const files = await readConfigFiles(paths, environment, this.#files.servers);
    void this.#watch.watch(paths);
    if (this.#isClosed) return;
    this.#snapshot = snapshot;
    this.#files = files;
    for (const problem of files.fileProblems) log.warn(problem, "invalid MCP configuration file");
    this.#adopt(files);
  }

  #adopt({ servers }: ConfigFiles): void {
    const slots = new Map<string, ServerSlot>();
    for (const entry of servers) {
      const { name, configFile } = entry;
      const slot = this.#slots.get(name);
      const isNotAllowed = "config" in entry && !this.#isAllowed(entry.config.source);
      if (slot !== undefined) {
        slot.change(isNotAllowed ? { problem: CHANGE_NOT_ALLOWED } : entry);
        slots.set(name, slot);
      } else if (isNotAllowed) continue;
      else if ("config" in entry) slots.set(name, this.#newSlot(name, entry.config));
      else
        this.#options.log.warn(
          { server: name, configFile, problem: entry.problem },
          "invalid MCP server entry",
        );
    }
    const gone = [...this.#slots].filter(([name]) => !slots.has(name));
    this.#slots = slots;
    for (const [, slot] of gone) for (const server of slot.servers) this.#release(server);
  }

  #newSlot(name: string, config: ServerConfig): ServerSlot {
    const { environment, clock, log } = this.#options;
    const directory = () => this.#workingDirectory();
    const isAllowed = (source: EntrySource) => this.#isAllowed(source);
    const make = (wanted: ServerConfig) =>
      new SupervisedServer(wanted, { name, environment, directory, isAllowed, clock, log });
    return new ServerSlot(config, make, (server) => this.#release(server));
  }

  /** Ends the server once its calls are done, or at once. */
  #release(server: SupervisedServer, isAtOnce = false): void {
    const ending = isAtOnce ? server.close() : server.retire();
    this.#retiring.set(
      server,
      ending.finally(() => this.#retiring.delete(server)),
    );
  }

  async #workingDirectory(): Promise<string> {
    const { directory, homeDirectory } = this.#options;
    const choices = { wanted: undefined, agentDirectory: directory, homeDirectory };
    const chosen = await chooseWorkingDirectory(choices);
    return chosen.kind === "done" ? chosen.value : directory;
  }

  // ── the tools ────────────────────────────────────────────────────────────

  async #prepare(isForced: boolean): Promise<void> {
    const slots = [...this.#slots.values()];
    // Starts all of them, but does not wait for those that have failed before.
    const waited = slots.map(async (slot) => {
      const isSkipped = slot.hasFailed && !isForced;
      const preparing = slot.prepare(isForced);
      if (!isSkipped) await preparing;
    });
    await Promise.all(waited);
  }

  #answer(): McpToolsAnswer {
    const servers = this.#files.servers.map((entry): McpServer => {
      const { name, configFile } = entry;
      const slot = this.#slots.get(name);
      if (slot !== undefined) {
        const { status, problem: error, tools } = slot;
        return { name, configFile, status, error, toolCount: tools.length };
      }
      if ("config" in entry) return { name, configFile, status: "pending", toolCount: 0 };
      return { name, configFile, status: "invalid", error: entry.problem, toolCount: 0 };
    });
    const requests = this.#files.servers.flatMap((server): McpRequest[] => {
      if (!("config" in server) || this.#isAllowed(server.config.source)) return [];
      const { configFile, linkTarget } = server;
      return [
        { entry: server.config.source.entry, configFile, ...(linkTarget !== undefined && { linkTarget }) },
      ];
    });
    const tools = [...this.#slots].flatMap(([serverName, slot]) =>
      slot.tools.map(({ name, description, inputSchema }): McpTool => {
        return { name: `${serverName}${MCP_NAME_SEPARATOR}${name}`, serverName, description, inputSchema };
      }),
    );
    const facts = {
      servers,
      tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
      fileProblems: this.#files.fileProblems,
      requests,
    };
    return { revision: createHash("sha256").update(JSON.stringify(facts)).digest("base64url"), ...facts };
  }
}
