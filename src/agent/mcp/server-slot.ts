/**
 * The place of one server name: the server that serves it, and perhaps one with a changed configuration that takes
 * over as soon as it is ready. Until then, and if it never is, the former one goes on.
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
  /** Of the entry, while the server goes on with what it said before. */
  #entryProblem: string | undefined;

  /** `release` ends a server that is no longer needed, when its calls are done. */
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
    if (this.#entryProblem !== undefined) return `${this.#entryProblem} It goes on as it was before.`;
    if (this.#candidate === undefined || problem === undefined) return problem;
    return `Its changed configuration fails, it goes on as it was before. ${problem}`;
  }

  get isDoubtful(): boolean {
    return (this.#candidate ?? this.#server).isDoubtful;
  }

  /** What its entry says now; a wrong entry changes nothing. */
  change(wanted: { config: ServerConfig } | { problem: string }): void {
    this.#entryProblem = "problem" in wanted ? wanted.problem : undefined;
    if ("problem" in wanted || isDeepStrictEqual((this.#candidate ?? this.#server).config, wanted.config))
      return;
    if (this.#candidate !== undefined) this.release(this.#candidate);
    const isBack = isDeepStrictEqual(this.#server.config, wanted.config);
    this.#candidate = isBack ? undefined : this.make(wanted.config);
  }

  /** Resolves when all there is to be had is there, or has failed. Never rejects. */
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
