/** What the mutations on workspaces and their templates take. Absent keeps; null clears where that is said. */
import { Field, ID, InputType } from "type-graphql";
import type { JsonValue } from "../../domain/common/json.js";
import type { WorkspaceProvisioner } from "../../domain/workspaces/workspace.js";
import { BigIntScalar } from "../scalars/big-int.js";
import { JsonScalar } from "../scalars/json.js";
import { WorkspaceProvisionerEnum } from "./workspace-template.type.js";

@InputType("TemplateParameterValueInput", {
  description: "What is given for one of a template's parameters.",
})
export class TemplateParameterValueInput {
  @Field(() => String, { description: "The parameter." })
  name!: string;

  @Field(() => String, { description: "At most 2,000 characters; one of the options where there are some." })
  value!: string;
}

@InputType("CreateWorkspaceInput", { description: "A workspace to make." })
export class CreateWorkspaceInput {
  @Field(() => ID, { description: "What it is made from; must be enabled." })
  templateId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "1 to 40 small letters, digits and hyphens, unique among the viewer's. Absent = made from the template's name.",
  })
  name?: string | null;

  @Field(() => [TemplateParameterValueInput], {
    nullable: true,
    defaultValue: [],
    description: "What the template asks for; what has a default may be left out.",
  })
  parameters?: TemplateParameterValueInput[] | null;
}

@InputType("StartWorkspaceInput", { description: "Which workspace to start." })
export class StartWorkspaceInput {
  @Field(() => ID, { description: "The workspace; one that was made from a template." })
  workspaceId!: string;
}

@InputType("StopWorkspaceInput", { description: "Which workspace to stop." })
export class StopWorkspaceInput {
  @Field(() => ID, { description: "The workspace; one that was made from a template." })
  workspaceId!: string;
}

@InputType("DeleteWorkspaceInput", { description: "Which workspace to delete." })
export class DeleteWorkspaceInput {
  @Field(() => ID, { description: "The workspace; one that was made from a template." })
  workspaceId!: string;
}

@InputType("AttachWorkspaceInput", { description: "Where a chat works from now on." })
export class AttachWorkspaceInput {
  @Field(() => ID, { description: "The chat." })
  chatId!: string;

  @Field(() => ID, { description: "The workspace; it must be the chat's owner's." })
  workspaceId!: string;
}

@InputType("TemplateParameterInput", { description: "What a template asks for." })
export class TemplateParameterInput {
  @Field(() => String, {
    description:
      "A small letter and up to 63 small letters, digits or `_`; the spec refers to it as `${name}`.",
  })
  name!: string;

  @Field(() => String, { description: "What people call it: 1 to 100 characters." })
  displayName!: string;

  @Field(() => String, {
    nullable: true,
    defaultValue: "",
    description: "What it is for: at most 1,000 characters.",
  })
  description?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Whether it must be given where there is no default. One that is not given is empty.",
  })
  isRequired?: boolean | null;

  @Field(() => String, { nullable: true, description: "What counts when it is not given." })
  defaultValue?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: "The only values that it takes, at most 100; null = any text.",
  })
  options?: string[] | null;
}

const DISPLAY_NAME = "What people call it: 1 to 100 characters.";
const DESCRIPTION =
  "What it is good for: at most 1,000 characters. People and models choose a template by it.";
const README = "More about it, in Markdown: at most 65,536 characters.";
const SPEC =
  "What the provisioner is told to make: an object of at most 65,536 characters as JSON, with `${name}` for a parameter's value. Its form depends on the provisioner, see docs/workspaces.md. It is no place for secrets: the audit log tells it.";
const PARAMETERS = "What it asks of whoever makes a workspace: at most 50.";
const TTL = "Idle milliseconds after which its workspaces stop, from a minute to ten years; null = never.";
const OVERRIDE = "Whether the deployment's `workspaceTtlMs`, where it is set, counts instead.";
const ENABLED = "Whether new workspaces may be made from it; those that are there go on.";

@InputType("CreateWorkspaceTemplateInput", { description: "A template to set up." })
export class CreateWorkspaceTemplateInput {
  @Field(() => String, {
    description: "1 to 40 small letters, digits and hyphens, unique among templates. It never changes.",
  })
  name!: string;

  @Field(() => String, { description: DISPLAY_NAME })
  displayName!: string;

  @Field(() => String, { nullable: true, defaultValue: "", description: DESCRIPTION })
  description?: string | null;

  @Field(() => String, { nullable: true, description: README })
  readme?: string | null;

  @Field(() => WorkspaceProvisionerEnum, {
    description: "What makes its workspaces; not EXTERNAL. It never changes.",
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

@InputType("UpdateWorkspaceTemplateInput", { description: "What to change of a template; absent keeps." })
export class UpdateWorkspaceTemplateInput {
  @Field(() => ID, { description: "The template." })
  templateId!: string;

  @Field(() => String, { nullable: true, description: DISPLAY_NAME })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: DESCRIPTION })
  description?: string | null;

  @Field(() => String, { nullable: true, description: `${README} Null = none.` })
  readme?: string | null;

  @Field(() => JsonScalar, {
    nullable: true,
    description: `${SPEC} Workspaces that are there keep what they were made with.`,
  })
  spec?: JsonValue;

  @Field(() => [TemplateParameterInput], {
    nullable: true,
    description: `${PARAMETERS} Given ones replace all of the former.`,
  })
  parameters?: TemplateParameterInput[] | null;

  @Field(() => BigIntScalar, { nullable: true, description: `${TTL} Counts at once.` })
  defaultTtlMs?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: `${OVERRIDE} Counts at once.` })
  allowTtlOverride?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: ENABLED })
  isEnabled?: boolean | null;
}

@InputType("DeleteWorkspaceTemplateInput", { description: "Which template to delete." })
export class DeleteWorkspaceTemplateInput {
  @Field(() => ID, { description: "The template; there must be no workspace of it." })
  templateId!: string;
}
