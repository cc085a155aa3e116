/**
 * Provisioner of workspaces that are directories below one root of this machine. Their agents are child processes of the
 * replica that uses them: several replicas on one machine each start their own.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorText } from "../../lib/text/error-text.js";
import { AgentUnreachable, type AgentConnection } from "../agent-client/agent-connection.js";
import type { LocalAgents } from "../local-agents.js";
import {
  ProvisionerError,
  type ProvisionedWorkspace,
  type Provisioner,
  type RuntimeStatus,
} from "./provisioner.js";
import { localSpecSchema, readSpec } from "./specs.js";

export type LocalWorkspacesOptions = {
  /** Absolute; created with the first workspace. */
  root: string;
  agents: Pick<LocalAgents, "connection" | "stop">;
  /** Stores the workspace's directory, for all replicas. */
  saveDirectory(workspaceId: string, directory: string): Promise<void>;
};

export class LocalWorkspaces implements Provisioner {
  /** Directories of the workspaces whose agents this process may have started. */
  readonly #started = new Map<string, string>();

  constructor(private readonly options: LocalWorkspacesOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const directory = this.#directoryOf(workspace);
    await mkdir(directory, { recursive: true }).catch((error: unknown) => {
      throw new ProvisionerError(`Its folder cannot be created: ${errorText(error)}.`, {
        isPermanent: false,
        cause: error,
      });
    });
    if (workspace.directory === null) await this.options.saveDirectory(workspace.id, directory);
  }

  async start(workspace: ProvisionedWorkspace): Promise<"ready"> {
    try {
      await this.connection(workspace);
    } catch (error) {
      if (!(error instanceof AgentUnreachable)) throw error;
      throw new ProvisionerError(`Its agent does not start: ${errorText(error.cause ?? error)}`, {
        isPermanent: false,
        cause: error,
      });
    }
    return "ready";
  }

  async stop({ id }: ProvisionedWorkspace): Promise<void> {
    await this.stopAgent(id);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.stopAgent(workspace.id);
    const directory = this.#directoryOf(workspace);
    // Whatever the database says: only directories that `create` made are deleted.
    if (basename(directory) !== workspace.id) {
      throw new ProvisionerError("Its folder is not one of the server's own.", { isPermanent: true });
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }

  async status(workspace: ProvisionedWorkspace): Promise<RuntimeStatus> {
    const found = await stat(this.#directoryOf(workspace)).catch(() => null);
    return found?.isDirectory() ? { kind: "running" } : { kind: "down", reason: "Its folder is gone." };
  }

  /** The workspace's agent, started if needed. Rejects with `AgentUnreachable`. */
  connection(workspace: ProvisionedWorkspace): Promise<AgentConnection> {
    const directory = this.#directoryOf(workspace);
    const { environment = {} } = readSpec(localSpecSchema, workspace);
    this.#started.set(workspace.id, directory);
    return this.options.agents.connection(directory, environment);
  }

  /** Workspaces whose agents this process may have started. */
  get startedIds(): string[] {
    return [...this.#started.keys()];
  }

  /** Ends the workspace's agent in this process, if there is one, and all that it runs. */
  async stopAgent(workspaceId: string): Promise<void> {
    const directory = this.#started.get(workspaceId);
    if (directory === undefined) return;
    this.#started.delete(workspaceId);
    await this.options.agents.stop(directory);
  }

  #directoryOf({ id, directory }: ProvisionedWorkspace): string {
    return directory ?? join(this.options.root, id);
  }
}
