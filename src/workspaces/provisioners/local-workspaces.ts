/**
 * Workspaces that are directories below one root of this machine. Their agents are children of this process, started by
 * whoever needs them: several replicas on one machine each have their own.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { AgentUnreachable, type AgentConnection } from "../agent-client/agent-connection.js";
import type { LocalAgents } from "../local-agents.js";
import {
  ProvisionerError,
  type ProvisionedWorkspace,
  type Provisioner,
  type Standing,
} from "./provisioner.js";
import { localSpecSchema, readSpec } from "./specs.js";

export type LocalWorkspacesOptions = {
  /** Absolute; made when the first workspace is. */
  root: string;
  agents: Pick<LocalAgents, "connection" | "stop">;
  /** Writes down where the workspace is, for every replica. */
  keepDirectory(workspaceId: string, directory: string): Promise<void>;
};

export class LocalWorkspaces implements Provisioner {
  /** Whose agents this process may have started, with where they are. */
  readonly #here = new Map<string, string>();

  constructor(private readonly options: LocalWorkspacesOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const directory = this.#directoryOf(workspace);
    await mkdir(directory, { recursive: true }).catch((error: unknown) => {
      throw new ProvisionerError(`Its folder cannot be made: ${wordsOf(error)}.`, {
        isLasting: false,
        cause: error,
      });
    });
    if (workspace.directory === null) await this.options.keepDirectory(workspace.id, directory);
  }

  async start(workspace: ProvisionedWorkspace): Promise<"ready"> {
    try {
      await this.connection(workspace);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      throw new ProvisionerError(`Its agent does not start: ${wordsOf(error.cause ?? error)}`, {
        isLasting: false,
        cause: error,
      });
    }
    return "ready";
  }

  async stop({ id }: ProvisionedWorkspace): Promise<void> {
    await this.leave(id);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.leave(workspace.id);
    const directory = this.#directoryOf(workspace);
    // Whatever the database says: nothing is deleted but what `create` has made.
    if (basename(directory) !== workspace.id) {
      throw new ProvisionerError("Its folder is not one of the server's own.", { isLasting: true });
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }

  async status(workspace: ProvisionedWorkspace): Promise<Standing> {
    const found = await stat(this.#directoryOf(workspace)).catch(() => null);
    return found?.isDirectory() ? { kind: "running" } : { kind: "down", reason: "Its folder is gone." };
  }

  /** Its agent, started here when it is not. Rejects with `AgentUnreachable`. */
  connection(workspace: ProvisionedWorkspace): Promise<AgentConnection> {
    const directory = this.#directoryOf(workspace);
    const { environment = {} } = readSpec(localSpecSchema, workspace);
    this.#here.set(workspace.id, directory);
    return this.options.agents.connection(directory, environment);
  }

  /** Workspaces whose agents may run here. */
  get here(): string[] {
    return [...this.#here.keys()];
  }

  /** The workspace is not to be used any more: its agent here ends, with all that it runs. */
  async leave(workspaceId: string): Promise<void> {
    const directory = this.#here.get(workspaceId);
    if (directory === undefined) return;
    this.#here.delete(workspaceId);
    await this.options.agents.stop(directory);
  }

  #directoryOf({ id, directory }: ProvisionedWorkspace): string {
    return directory ?? join(this.options.root, id);
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
