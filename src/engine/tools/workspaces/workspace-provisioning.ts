/** Port through which tools create, start and stop the chat's workspace; implemented in services. */
import type { JsonObject } from "../../../domain/common/json.js";
import type { TemplateParameter } from "../../../domain/workspaces/workspace-parameters.js";

type TemplateSummary = { name: string; displayName: string; description: string };
type TemplateDetails = TemplateSummary & {
  readme: string | null;
  parameters: readonly TemplateParameter[];
};

export type ProvisioningCall = {
  /** Identifies the tool call: when it is repeated, it finds what the first one has created. */
  key: string;
  /** Ends the wait; the operation itself goes on. */
  signal: AbortSignal;
  /** Shows progress to users. Never throws. */
  report(text: string): void;
};

export type WorkspaceRequest = {
  template: string;
  name?: string | undefined;
  parameters: Readonly<Record<string, string>>;
};

/** All methods reject with a `ToolError` for what the model can react to. */
export type WorkspaceProvisioning = {
  /** Enabled templates, by display name. */
  listTemplates(): Promise<TemplateSummary[]>;
  /** Null when there is no enabled template of that name. */
  readTemplate(name: string): Promise<TemplateDetails | null>;
  /** Binds the chat to the new workspace at once, and waits until it is ready. */
  create(request: WorkspaceRequest, call: ProvisioningCall): Promise<JsonObject>;
  start(call: ProvisioningCall): Promise<JsonObject>;
  stop(call: ProvisioningCall): Promise<JsonObject>;
};
