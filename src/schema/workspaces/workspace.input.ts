/** Inputs of the mutations on workspaces and templates. Absent fields do not change; null clears where the field's description says so. */
import { Field, ID, InputType } from "type-graphql";
import type { JsonValue } from "../../domain/common/json.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { JsonScalar } from "../scalars/json.js";
import { WorkspaceProvisionerEnum } from "./workspace-template.type.js";

@InputType("TemplateParameterValueInput", {
  description: "A value for a parameter of a workspace template.",
})
export class TemplateParameterValueInput {
  @Field(() => String, { description: "The parameter's name." })
  name!: string;

  @Field(() => String, {
    description: "The value: at most 2,000 characters; one of the parameter's options, if it has any.",
  })
  value!: string;
}

@InputType("CreateWorkspaceInput", { description: "Input of `createWorkspace`." })
export class CreateWorkspaceInput {
  @Field(() => ID, { description: "The template to create the workspace from. Must be enabled." })
  templateId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The workspace's name: 1 to 40 lowercase letters, digits and hyphens, unique among the viewer's workspaces. Defaults to one derived from the template's name.",
  })
  name?: string | null;

  @Field(() => [TemplateParameterValueInput], {
    nullable: true,
    defaultValue: [],
    description: "Values for the template's parameters. Parameters with a default may be omitted.",
  })
  parameters?: TemplateParameterValueInput[] | null;
}

@InputType("StartWorkspaceInput", { description: "Input of `startWorkspace`." })
export class StartWorkspaceInput {
  @Field(() => ID, { description: "The workspace. Must have been created from a template." })
  workspaceId!: string;
}

@InputType("StopWorkspaceInput", { description: "Input of `stopWorkspace`." })
export class StopWorkspaceInput {
  @Field(() => ID, { description: "The workspace. Must have been created from a template." })
  workspaceId!: string;
}

@InputType("DeleteWorkspaceInput", { description: "Input of `deleteWorkspace`." })
export class DeleteWorkspaceInput {
  @Field(() => ID, { description: "The workspace. Must have been created from a template." })
  workspaceId!: string;
}

@InputType("AttachWorkspaceInput", { description: "Input of `attachWorkspace`." })
export class AttachWorkspaceInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;

  @Field(() => ID, { description: "The workspace. Must belong to the chat's owner." })
  workspaceId!: string;
}

const HASH = "The server's `hash`, as the workspace lists it.";

@InputType("AllowWorkspaceMcpServerInput", { description: "Input of `allowWorkspaceMcpServer`." })
export class AllowWorkspaceMcpServerInput {
  @Field(() => ID, { description: "The workspace." })
  workspaceId!: string;

  @Field(() => String, { description: HASH })
  hash!: string;
}

@InputType("ForbidWorkspaceMcpServerInput", { description: "Input of `forbidWorkspaceMcpServer`." })
export class ForbidWorkspaceMcpServerInput {
  @Field(() => ID, { description: "The workspace." })
  workspaceId!: string;

  @Field(() => String, { description: HASH })
  hash!: string;
}

@InputType("TemplateParameterInput", { description: "A parameter of a workspace template." })
export class TemplateParameterInput {
  @Field(() => String, {
    description:
      "The parameter's name: a lowercase letter, followed by up to 63 lowercase letters, digits or `_`. The specification refers to it as `${name}`.",
  })
  name!: string;

  @Field(() => String, { description: "The display name: 1 to 100 characters." })
  displayName!: string;

  @Field(() => String, {
    nullable: true,
    defaultValue: "",
    description: "What the parameter is for: at most 1,000 characters.",
  })
  description?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description:
      "Whether a value must be given if there is no default. Optional parameters without a value are empty.",
  })
  isRequired?: boolean | null;

  @Field(() => String, { nullable: true, description: "The default value." })
  defaultValue?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: "The allowed values, at most 100. Null to allow any text.",
  })
  options?: string[] | null;
}

const DISPLAY_NAME = "The display name: 1 to 100 characters.";
const DESCRIPTION =
  "What the template is good for: at most 1,000 characters. Users and models choose a template by its description.";
const README = "Long description in Markdown: at most 65,536 characters.";
const SPEC =
  "The specification for the provisioner: an object of at most 65,536 characters as JSON. `${name}` is replaced with a parameter's value. Its format depends on the provisioner, see docs/guides/set-up-workspaces.md. Must not contain secrets, as it is recorded in the audit log.";
const PARAMETERS = "The template's parameters. At most 50.";
const TTL =
  "Idle time after which workspaces of this template stop, in milliseconds: one minute to ten years. Null for never.";
const OVERRIDE = "Whether the deployment's `workspaceTtlMs`, if set, takes precedence over `defaultTtlMs`.";
const ENABLED = "Whether new workspaces may be created from the template. Existing ones are not affected.";

@InputType("CreateWorkspaceTemplateInput", { description: "Input of `createWorkspaceTemplate`." })
export class CreateWorkspaceTemplateInput {
  @Field(() => String, {
    description:
      "The template's name: 1 to 40 lowercase letters, digits and hyphens, unique among templates. Cannot be changed.",
  })
  name!: string;

  @Field(() => String, { description: DISPLAY_NAME })
  displayName!: string;

  @Field(() => String, { nullable: true, defaultValue: "", description: DESCRIPTION })
  description?: string | null;

  @Field(() => String, { nullable: true, description: README })
  readme?: string | null;

  @Field(() => WorkspaceProvisionerEnum, {
    description: "What creates the workspaces; not EXTERNAL. Cannot be changed.",
  })
  provisioner!: WorkspaceProvisioner;

  @Field(() => JsonScalar, { description: SPEC })
  spec!: JsonValue;

  @Field(() => [TemplateParameterInput], { nullable: true, defaultValue: [], description: PARAMETERS })
  parameters?: TemplateParameterInput[] | null;

  @Field(() => BigIntScalar, { nullable: true, description: TTL })
  defaultTtlMs?: bigint | null;

  @Field(() => Boolean, { nullable: true, defaultValue: true, description: OVERRIDE })
  allowTtlOverride?: boolean | null;

  @Field(() => Boolean, { nullable: true, defaultValue: true, description: ENABLED })
  isEnabled?: boolean | null;
}

@InputType("UpdateWorkspaceTemplateInput", {
  description: "Input of `updateWorkspaceTemplate`. Fields that are absent do not change.",
})
export class UpdateWorkspaceTemplateInput {
  @Field(() => ID, { description: "The template." })
  templateId!: string;

  @Field(() => String, { nullable: true, description: DISPLAY_NAME })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: DESCRIPTION })
  description?: string | null;

  @Field(() => String, { nullable: true, description: `${README} Null for none.` })
  readme?: string | null;

  @Field(() => JsonScalar, {
    nullable: true,
    description: `${SPEC} Existing workspaces keep the specification they were created with.`,
  })
  spec?: JsonValue;

  @Field(() => [TemplateParameterInput], {
    nullable: true,
    description: `${PARAMETERS} Replaces all current parameters.`,
  })
  parameters?: TemplateParameterInput[] | null;

  @Field(() => BigIntScalar, { nullable: true, description: `${TTL} Takes effect at once.` })
  defaultTtlMs?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: `${OVERRIDE} Takes effect at once.` })
  allowTtlOverride?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: ENABLED })
  isEnabled?: boolean | null;
}

@InputType("DeleteWorkspaceTemplateInput", { description: "Input of `deleteWorkspaceTemplate`." })
export class DeleteWorkspaceTemplateInput {
  @Field(() => ID, { description: "The template. Must not have any workspaces." })
  templateId!: string;
}
