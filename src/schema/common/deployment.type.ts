/** The deployment as a whole, and what admins set for it. */
import { Field, InputType, Int, ObjectType } from "type-graphql";
import { BigIntScalar } from "../scalars/big-int.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "./user-error.interface.js";

const DESKTOP =
  "Whether workspaces may show a desktop. Kept for clients to see; no workspace offers one yet.";
const TTL =
  "Milliseconds without use after which a workspace may be stopped, 1 to 315,360,000,000 (ten years); null = each template's own. Kept for later; nothing stops workspaces yet.";

@ObjectType("DeploymentSettings", {
  simpleResolvers: true,
  description: "What admins set for everybody. Every replica goes by it at once.",
})
export class DeploymentSettings {
  updatedById!: string | null;

  @Field(() => String, {
    description:
      "Added to Parley's own instructions to the model in every turn that begins from then on; empty = nothing.",
  })
  systemPrompt!: string;

  @Field(() => BigIntScalar, { nullable: true, description: TTL })
  workspaceTtlMs!: number | null;

  @Field(() => Boolean, { description: DESKTOP })
  isDesktopEnabled!: boolean;

  @Field(() => Int, {
    description:
      "Most chats that a worker takes from the queue at once. While nothing is set it is what the environment of the server that answers says.",
  })
  acquireBatchSize!: number;

  @Field(() => DateTimeScalar, {
    description: "When they were last changed; when they came to be, as long as nobody has.",
  })
  updatedAt!: Date;
}

@ObjectType("Deployment", { simpleResolvers: true, description: "This installation of Parley." })
export class Deployment {
  @Field(() => String, { description: "The server's version, as in its changelog." })
  version!: string;
}

@InputType("UpdateDeploymentSettingsInput", {
  description: "Changes to what is set for everybody. What is absent stays as it is.",
})
export class UpdateDeploymentSettingsInput {
  @Field(() => String, {
    nullable: true,
    description:
      "At most 131,072 bytes of UTF-8; null or empty = nothing. Invisible characters and surplus white space are taken out.",
  })
  systemPrompt?: string | null;

  @Field(() => BigIntScalar, { nullable: true, description: TTL })
  workspaceTtlMs?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: `${DESKTOP} Null = no.` })
  isDesktopEnabled?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description:
      "Most chats that a worker takes from the queue at once, 1 to 1,000; null = what each server's environment says (PARLEY_ACQUIRE_BATCH_SIZE).",
  })
  acquireBatchSize?: number | null;
}

@ObjectType("UpdateDeploymentSettingsPayload", {
  simpleResolvers: true,
  description: "The settings as they are now.",
})
export class UpdateDeploymentSettingsPayload {
  @Field(() => DeploymentSettings, { nullable: true, description: "Null when the change was refused." })
  settings!: DeploymentSettings | null;

  @Field(() => [UserError], {
    description: "Why nothing was done: everything that is wrong, each with its field; empty on success.",
  })
  userErrors!: UserError[];
}
