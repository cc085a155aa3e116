/** The deployment and its settings. */
import { Field, InputType, Int, ObjectType } from "type-graphql";
import { BigIntScalar } from "../scalars/big-int.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "./user-error.interface.js";

const DESKTOP = "Whether workspaces may provide a desktop. Not supported by any workspace yet.";
const TTL =
  "Idle time after which workspaces stop, in milliseconds: 1 to 315,360,000,000 (ten years), of which at least one minute is used. Takes precedence over `defaultTtlMs` of templates with `allowTtlOverride`. Null for each template's own value.";

@ObjectType("DeploymentSettings", {
  simpleResolvers: true,
  description: "Settings of the deployment. Changes take effect on all replicas at once.",
})
export class DeploymentSettings {
  updatedById!: string | null;

  @Field(() => String, {
    description:
      "Text added to Parley's own system prompt in every turn that starts after the change. Empty for none.",
  })
  systemPrompt!: string;

  @Field(() => BigIntScalar, { nullable: true, description: TTL })
  workspaceTtlMs!: number | null;

  @Field(() => Boolean, { description: DESKTOP })
  isDesktopEnabled!: boolean;

  @Field(() => Int, {
    description:
      "Maximum number of chats a worker claims at once. Defaults to the value in the environment of the server that answers the query.",
  })
  acquireBatchSize!: number;

  @Field(() => DateTimeScalar, {
    description: "When the settings were last changed, or created if they never were.",
  })
  updatedAt!: Date;
}

@ObjectType("Deployment", { simpleResolvers: true, description: "This installation of Parley." })
export class Deployment {
  @Field(() => String, { description: "The server's version, as in its changelog." })
  version!: string;
}

@InputType("UpdateDeploymentSettingsInput", {
  description: "Input of `updateDeploymentSettings`. Fields that are absent do not change.",
})
export class UpdateDeploymentSettingsInput {
  @Field(() => String, {
    nullable: true,
    description:
      "Text added to Parley's own system prompt: at most 131,072 bytes of UTF-8. Null or empty for none. Invisible characters and redundant whitespace are removed.",
  })
  systemPrompt?: string | null;

  @Field(() => BigIntScalar, { nullable: true, description: TTL })
  workspaceTtlMs?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: `${DESKTOP} Null means false.` })
  isDesktopEnabled?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Maximum number of chats a worker claims at once: 1 to 1,000. Null for the value in each server's environment (PARLEY_ACQUIRE_BATCH_SIZE).",
  })
  acquireBatchSize?: number | null;
}

@ObjectType("UpdateDeploymentSettingsPayload", {
  simpleResolvers: true,
  description: "The settings in their current state.",
})
export class UpdateDeploymentSettingsPayload {
  @Field(() => DeploymentSettings, {
    nullable: true,
    description: "The settings. Null if the mutation was refused.",
  })
  settings!: DeploymentSettings | null;

  @Field(() => [UserError], {
    description:
      "Why the mutation was refused: every problem found, each with the path of its field. Empty on success.",
  })
  userErrors!: UserError[];
}
