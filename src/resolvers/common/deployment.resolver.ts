/** The deployment and its settings. */
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from "type-graphql";
import type { DeploymentChange } from "../../domain/common/deployment-rules.js";
import type { EffectiveDeploymentSettings } from "../../commands/common/update-deployment-settings.js";
import {
  Deployment,
  DeploymentSettings,
  UpdateDeploymentSettingsInput,
  UpdateDeploymentSettingsPayload,
} from "../../schema/common/deployment.type.js";
import { User } from "../../schema/users/user.type.js";
import { actorOf, type Context } from "./context.js";
import { toUser } from "./shapes.js";
import { toUserErrors } from "./user-errors.js";

@Resolver(() => Deployment)
export class DeploymentResolver {
  @Query(() => Deployment, { description: "This installation of Parley." })
  deployment(@Ctx() { version }: Context): Deployment {
    return { version };
  }

  @FieldResolver(() => Boolean, {
    complexity: 1,
    description: "Whether workspaces may provide a desktop. Not supported by any workspace yet.",
  })
  isDesktopEnabled(@Ctx() { deployment }: Context): Promise<boolean> {
    return deployment.isDesktopEnabled();
  }

  @FieldResolver(() => DeploymentSettings, {
    nullable: true,
    description: "The deployment's settings. Null unless the viewer is an admin.",
  })
  async settings(@Ctx() { deployment, viewer }: Context): Promise<DeploymentSettings | null> {
    const settings = await deployment.readSettings(viewer);
    return settings && toSettings(settings);
  }

  @Mutation(() => UpdateDeploymentSettingsPayload, {
    description: "Changes the deployment's settings. Admins only; recorded in the audit log.",
  })
  async updateDeploymentSettings(
    @Arg("input", () => UpdateDeploymentSettingsInput, { description: "The parameters of the mutation." })
    input: UpdateDeploymentSettingsInput,
    @Ctx() context: Context,
  ): Promise<UpdateDeploymentSettingsPayload> {
    const result = await context.deployment.updateSettings(actorOf(context), readChange(input));
    if (!result.ok) return { settings: null, userErrors: toUserErrors(result.refusal) };
    return { settings: toSettings(result.settings), userErrors: [] };
  }
}

@Resolver(() => DeploymentSettings)
export class DeploymentSettingsResolver {
  @FieldResolver(() => User, {
    nullable: true,
    description:
      "The user who last changed the settings. Null if they were never changed or the account no longer exists.",
  })
  async updatedBy(
    @Root() { updatedById }: DeploymentSettings,
    @Ctx() { loaders }: Context,
  ): Promise<User | null> {
    const record = updatedById === null ? null : await loaders.users.load(updatedById);
    return record && toUser(record);
  }
}

function readChange(input: UpdateDeploymentSettingsInput): DeploymentChange {
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, acquireBatchSize } = input;
  return {
    ...(systemPrompt !== undefined && { systemPrompt: systemPrompt ?? "" }),
    ...(workspaceTtlMs !== undefined && { workspaceTtlMs }),
    ...(isDesktopEnabled !== undefined && { isDesktopEnabled: isDesktopEnabled ?? false }),
    ...(acquireBatchSize !== undefined && { acquireBatchSize }),
  };
}

function toSettings(settings: EffectiveDeploymentSettings): DeploymentSettings {
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, effectiveBatchSize, updatedAt, updatedBy } =
    settings;
  return {
    ...{ systemPrompt, workspaceTtlMs, isDesktopEnabled, updatedAt },
    acquireBatchSize: effectiveBatchSize,
    updatedById: updatedBy,
  };
}
