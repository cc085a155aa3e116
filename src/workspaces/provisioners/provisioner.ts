/**
 * What makes, starts, stops and removes workspaces of one kind. Each method may be called again after it failed, after
 * its caller died in the middle of it, and when there is nothing left to do: it goes on from what it finds.
 */
import type { JsonObject } from "../../domain/common/json.js";

/** A workspace as its provisioner needs it. */
export type ProvisionedWorkspace = {
  id: string;
  name: string;
  ownerId: string;
  /** Local: where it is; null = it has never been made. */
  directory: string | null;
  /** The template's, with `${name}`s of parameters. */
  spec: JsonObject;
  parameters: Readonly<Record<string, string>>;
};

/** For an agent that calls the server. */
export type CallingAgent = {
  /** Names this start, the same for each time that it is tried: what an earlier one has made does not count. */
  startId: string;
  /** A new token; the one before it opens nothing any more. Ask only for an agent that is really made anew. */
  issueToken(): Promise<string>;
};

/** `down`: it does not run; `reason` is worded for people. */
export type Standing = { kind: "running" } | { kind: "down"; reason: string };

/** All methods reject with a `ProvisionerError` for what people should read. */
export interface Provisioner {
  /** Makes what outlives stops: a directory, a volume. */
  create(workspace: ProvisionedWorkspace): Promise<void>;
  /** `ready`: the agent answers. `calling`: it was started, and will call; ask again until it has. */
  start(workspace: ProvisionedWorkspace, agent: CallingAgent): Promise<"ready" | "calling">;
  /** Ends the agent and what it runs; what `create` made stays. */
  stop(workspace: ProvisionedWorkspace): Promise<void>;
  /** Takes everything away. */
  remove(workspace: ProvisionedWorkspace): Promise<void>;
  /** How it really stands, for one that should run. */
  status(workspace: ProvisionedWorkspace): Promise<Standing>;
}

export class ProvisionerError extends Error {
  override readonly name = "ProvisionerError";
  /** Trying again would change nothing, until somebody changes something. */
  readonly isLasting: boolean;

  constructor(message: string, options: { isLasting: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isLasting = options.isLasting;
  }
}
