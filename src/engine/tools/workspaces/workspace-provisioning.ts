/** What tools can do about the chat's workspace itself: a port, which the engine fills. */
import type { JsonObject } from "../../../domain/common/json.js";
import type { TemplateParameter } from "../../../domain/workspaces/workspace-parameters.js";

export type TemplateSummary = { name: string; displayName: string; description: string };
export type TemplateDetails = TemplateSummary & {
  readme: string | null;
  parameters: readonly TemplateParameter[];
};

export type ProvisioningCall = {
  /** Names the tool's call for ever: a re-run finds what the first one has made. */
  key: string;
  /** Ends the waiting; what was begun goes on. */
  signal: AbortSignal;
  /** Tells people how it goes. Never throws. */
  say(text: string): void;
};

export type WorkspaceRequest = {
  template: string;
  name?: string | undefined;
  parameters: Readonly<Record<string, string>>;
};

/** All methods reject with a `ToolError` for what the model can react to. */
export type WorkspaceProvisioning = {
  /** Those that may be used, by their display names. */
  listTemplates(): Promise<TemplateSummary[]>;
  /** Null when there is none of that name that may be used. */
  readTemplate(name: string): Promise<TemplateDetails | null>;
  /** Binds the chat to the new workspace at once, and waits until that can be used. */
  create(wanted: WorkspaceRequest, call: ProvisioningCall): Promise<JsonObject>;
  start(call: ProvisioningCall): Promise<JsonObject>;
  stop(call: ProvisioningCall): Promise<JsonObject>;
};
