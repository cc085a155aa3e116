/** Facts about the deployment, and what admins set for it. */
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from "type-graphql";
import type { DeploymentChange } from "../../domain/common/deployment-rules.js";
import type { ShownDeploymentSettings } from "../../commands/common/update-deployment-settings.js";
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
    description: "Whether workspaces may show a desktop. No workspace offers one yet.",
  })
  isDesktopEnabled(@Ctx() { deployment }: Context): Promise<boolean> {
    return deployment.isDesktopEnabled();
  }

  @FieldResolver(() => DeploymentSettings, {
    nullable: true,
    description: "What is set for everybody. Admins only; null for everyone else.",
  })
  async settings(@Ctx() { deployment, viewer }: Context): Promise<DeploymentSettings | null> {
    const settings = await deployment.readSettings(viewer);
    return settings && toSettings(settings);
  }

  @Mutation(() => UpdateDeploymentSettingsPayload, {
    description: "Changes what is set for everybody. For admins; recorded in the audit log.",
  })
  async updateDeploymentSettings(
    @Arg("input", () => UpdateDeploymentSettingsInput, { description: "What to change." })
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
    description: "Who changed them last; null when nobody has, or their account is gone.",
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

function toSettings(settings: ShownDeploymentSettings): DeploymentSettings {
  const { systemPrompt, workspaceTtlMs, isDesktopEnabled, effectiveBatchSize, updatedAt, updatedBy } =
    settings;
  return {
    ...{ systemPrompt, workspaceTtlMs, isDesktopEnabled, updatedAt },
    acquireBatchSize: effectiveBatchSize,
    updatedById: updatedBy,
  };
}
