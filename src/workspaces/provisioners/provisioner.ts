/**
 * Provisioner: creates, starts, stops and removes the workspaces of one kind. All methods are idempotent: each may be
 * called again after a failure, after a crash of its caller, and when there is nothing left to do.
 */
import type { JsonObject } from "../../domain/common/json.js";

export type ProvisionedWorkspace = {
  id: string;
  name: string;
  ownerId: string;
  /** Local workspaces only; null = not created yet. */
  directory: string | null;
  /** The template's spec, with `${name}` placeholders for parameters. */
  spec: JsonObject;
  parameters: Readonly<Record<string, string>>;
};

/** One start of an agent that connects to the server. */
export type AgentLaunch = {
  /** Identifies this start over all its attempts: containers of an earlier start are replaced. */
  startId: string;
  /** Issues a new token and revokes the previous one; call only when a new agent is really created. */
  issueToken(): Promise<string>;
};

/** `reason` is a sentence for users. */
export type RuntimeStatus = { kind: "running" } | { kind: "down"; reason: string };

/** All methods reject with a `ProvisionerError` for failures that users should read. */
export interface Provisioner {
  /** Creates what survives stops: a directory, a volume. */
  create(workspace: ProvisionedWorkspace): Promise<void>;
  /** `ready`: the agent answers. `connecting`: it was started and will connect; call again until it has. */
  start(workspace: ProvisionedWorkspace, agent: AgentLaunch): Promise<"ready" | "connecting">;
  /** Ends the agent and what it runs; what `create` made remains. */
  stop(workspace: ProvisionedWorkspace): Promise<void>;
  /** Removes everything, files included. */
  remove(workspace: ProvisionedWorkspace): Promise<void>;
  /** The actual status of a workspace that should run. */
  status(workspace: ProvisionedWorkspace): Promise<RuntimeStatus>;
}

export class ProvisionerError extends Error {
  override readonly name = "ProvisionerError";
  /** A retry fails again until the configuration or the environment changes. */
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent;
  }
}
