/**
 * Slot of one server name: its current server, and perhaps a candidate with a changed configuration, which replaces it
 * once it is ready. Until then, and if it never is, the current one stays in use.
 */
import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "../outcome.js";
import type { McpCallAnswer } from "../protocol/mcp.js";
import type { ServerConfig } from "./config-text.js";
import type { ListedTool } from "../../mcp/types.js";
import type { ToolCall, SupervisedServer } from "./supervised-server.js";

export class ServerSlot {
  #server: SupervisedServer;
  #candidate: SupervisedServer | undefined;
  /** Problem of the changed entry, while the server runs with its former configuration. */
  #entryProblem: string | undefined;

  /** `release` ends a replaced server once its calls are done. */
  constructor(
    config: ServerConfig,
    private readonly make: (config: ServerConfig) => SupervisedServer,
    private readonly release: (server: SupervisedServer) => void,
  ) {
    this.#server = make(config);
  }

  get servers(): SupervisedServer[] {
    return this.#candidate === undefined ? [this.#server] : [this.#server, this.#candidate];
  }

  get tools(): readonly ListedTool[] {
    return this.#server.tools;
  }

  get status(): "ready" | "starting" | "failed" {
    return this.#server.status;
  }

  get problem(): string | undefined {
    const { problem } = this.#candidate ?? this.#server;
    if (this.#entryProblem !== undefined)
      return `${this.#entryProblem} Its former configuration stays in use.`;
    if (this.#candidate === undefined || problem === undefined) return problem;
    return `Its changed configuration fails; the former one stays in use. ${problem}`;
  }

  get hasFailed(): boolean {
    return (this.#candidate ?? this.#server).hasFailed;
  }

  /** Applies a changed entry; an invalid one changes nothing. */
  change(wanted: { config: ServerConfig } | { problem: string }): void {
    this.#entryProblem = "problem" in wanted ? wanted.problem : undefined;
    if ("problem" in wanted || isDeepStrictEqual((this.#candidate ?? this.#server).config, wanted.config))
      return;
    if (this.#candidate !== undefined) this.release(this.#candidate);
    const isBack = isDeepStrictEqual(this.#server.config, wanted.config);
    this.#candidate = isBack ? undefined : this.make(wanted.config);
  }

  /** Resolves when server and candidate are ready or have failed. Never rejects. */
  async prepare(isForced: boolean): Promise<void> {
    const candidate = this.#candidate;
    if (candidate === undefined) return this.#server.prepare(isForced);
    if (this.#server.status === "failed") this.#takeOver(candidate);
    await candidate.prepare(isForced);
    if (candidate.status === "ready") this.#takeOver(candidate);
    if (this.#server !== candidate) await this.#server.prepare(isForced);
  }

  call(call: ToolCall): Promise<Outcome<McpCallAnswer>> {
    return this.#server.call(call);
  }

  #takeOver(candidate: SupervisedServer): void {
    if (this.#candidate !== candidate) return;
    this.release(this.#server);
    this.#server = candidate;
    this.#candidate = undefined;
  }
}
