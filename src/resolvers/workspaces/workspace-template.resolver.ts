/** Workspace templates: users see enabled ones, admins manage all. */
import { Arg, Ctx, Mutation, Query, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import type { TemplateParameter } from "../../domain/workspaces/workspace-parameters.js";
import type { CommandResult } from "../../commands/common/command-result.js";
import { WorkspaceTemplate } from "../../schema/workspaces/workspace-template.type.js";
import {
  CreateWorkspaceTemplateInput,
  DeleteWorkspaceTemplateInput,
  type TemplateParameterInput,
  UpdateWorkspaceTemplateInput,
} from "../../schema/workspaces/workspace.input.js";
import {
  CreateWorkspaceTemplatePayload,
  DeleteWorkspaceTemplatePayload,
  UpdateWorkspaceTemplatePayload,
} from "../../schema/workspaces/workspace.payloads.js";
import { listTemplates, type WorkspaceTemplateRecord } from "../../store/workspaces/workspace-templates.js";
import { actorOf, type Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toWorkspaceTemplate } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";

@Resolver()
export class WorkspaceTemplateResolver {
  @Query(() => [WorkspaceTemplate], {
    description: "The templates that workspaces can be created from, sorted by display name. At most 200.",
  })
  async workspaceTemplates(
    @Arg("includeDisabled", () => Boolean, {
      nullable: true,
      defaultValue: false,
      description: "Whether to include disabled templates. Ignored unless the viewer is an admin.",
    })
    includeDisabled: boolean | null,
    @Ctx() { database, viewer }: Context,
  ): Promise<WorkspaceTemplate[]> {
    const isAll = (includeDisabled ?? false) && viewer.role === "admin";
    const records = await listTemplates(database, { includeDisabled: isAll });
    return records.map((record) => toWorkspaceTemplate(record, viewer));
  }

  @Mutation(() => CreateWorkspaceTemplatePayload, {
    description: "Creates a workspace template. Admins only; recorded in the audit log.",
  })
  async createWorkspaceTemplate(
    @Arg("input", () => CreateWorkspaceTemplateInput, { description: "The parameters of the mutation." })
    input: CreateWorkspaceTemplateInput,
    @Ctx() context: Context,
  ): Promise<CreateWorkspaceTemplatePayload> {
    const { name, displayName, provisioner, spec } = input;
    const result = await context.workspaces.createTemplate(actorOf(context), {
      ...{ name, displayName, provisioner, spec },
      description: input.description ?? "",
      readme: input.readme ?? null,
      parameters: toParameters(input.parameters ?? []),
      defaultTtlMs: input.defaultTtlMs ?? null,
      allowTtlOverride: input.allowTtlOverride ?? true,
      isEnabled: input.isEnabled ?? true,
    });
    return templatePayload(result, context);
  }

  @Mutation(() => UpdateWorkspaceTemplatePayload, {
    description:
      "Changes a workspace template. Existing workspaces keep the specification they were created with; idle times take effect at once. Admins only; recorded in the audit log.",
  })
  async updateWorkspaceTemplate(
    @Arg("input", () => UpdateWorkspaceTemplateInput, { description: "The parameters of the mutation." })
    input: UpdateWorkspaceTemplateInput,
    @Ctx() context: Context,
  ): Promise<UpdateWorkspaceTemplatePayload> {
    const { readme, defaultTtlMs, spec, parameters } = input;
    const { displayName, description, allowTtlOverride, isEnabled } = input;
    const result = await context.workspaces.updateTemplate(actorOf(context), {
      templateId: databaseId("tpl", input.templateId, "templateId"),
      ...(displayName == null ? {} : { displayName }),
      ...(description == null ? {} : { description }),
      ...(allowTtlOverride == null ? {} : { allowTtlOverride }),
      ...(isEnabled == null ? {} : { isEnabled }),
      ...(spec == null ? {} : { spec }),
      ...(parameters == null ? {} : { parameters: toParameters(parameters) }),
      // Null clears these.
      ...(readme === undefined ? {} : { readme }),
      ...(defaultTtlMs === undefined ? {} : { defaultTtlMs }),
    });
    return templatePayload(result, context);
  }

  @Mutation(() => DeleteWorkspaceTemplatePayload, {
    description:
      "Deletes a workspace template. Refused while it has workspaces; disable it instead. Admins only; recorded in the audit log.",
  })
  async deleteWorkspaceTemplate(
    @Arg("input", () => DeleteWorkspaceTemplateInput, { description: "The parameters of the mutation." })
    input: DeleteWorkspaceTemplateInput,
    @Ctx() context: Context,
  ): Promise<DeleteWorkspaceTemplatePayload> {
    const templateId = databaseId("tpl", input.templateId, "templateId");
    const result = await context.workspaces.deleteTemplate(actorOf(context), templateId);
    if (!result.ok) return { deletedId: null, userErrors: toUserErrors(result.refusal) };
    context.loaders.forget();
    return { deletedId: encodeId("tpl", result.templateId), userErrors: [] };
  }
}

function toParameters(inputs: readonly TemplateParameterInput[]): TemplateParameter[] {
  return inputs.map(({ name, displayName, description, isRequired, defaultValue, options }) => ({
    name,
    displayName,
    description: description ?? "",
    isRequired: isRequired ?? false,
    defaultValue: defaultValue ?? null,
    options: options ?? null,
  }));
}

function templatePayload(
  result: CommandResult<{ template: WorkspaceTemplateRecord }>,
  context: Context,
): CreateWorkspaceTemplatePayload {
  if (!result.ok) return { template: null, userErrors: toUserErrors(result.refusal) };
  context.loaders.forget();
  return { template: toWorkspaceTemplate(result.template, context.viewer), userErrors: [] };
}
