/** Model providers and models. */
import { Field, Int, ObjectType } from "type-graphql";
import type { ModelProviderKind } from "../domain/failures.js";
import { ModelProviderKindEnum } from "./enums.js";
import { Node } from "./node.interface.js";
import { UrlScalar } from "./scalars/url.js";

@ObjectType("ModelProvider", {
  implements: Node,
  simpleResolvers: true,
  description: "A vendor's endpoint that models are asked through. Keys are never shown.",
})
export class ModelProvider implements Node {
  readonly __typename!: "ModelProvider";

  id!: string;

  /** The database's id. */
  providerId!: string;

  @Field(() => ModelProviderKindEnum, { description: "Whose wire format it speaks." })
  kind!: ModelProviderKind;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => Boolean, { description: "Whether its models may be used." })
  isEnabled!: boolean;

  @Field(() => Boolean, {
    description: "Whether the server holds a key for it. False for a provider that needs none.",
  })
  hasApiKey!: boolean;

  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "Where it is asked, without credentials; null = the vendor's own. Admins only; null for everyone else.",
  })
  baseUrl!: string | null;
}

@ObjectType("ModelConfig", {
  implements: Node,
  simpleResolvers: true,
  description: "One model of a provider, as people may choose it.",
})
export class ModelConfig implements Node {
  readonly __typename!: "ModelConfig";

  id!: string;

  /** The database's id of the provider. */
  providerId!: string;

  @Field(() => String, { description: "The vendor's own id of the model." })
  model!: string;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => Boolean, { description: "Whether chats may use it; its provider must be enabled too." })
  isEnabled!: boolean;

  @Field(() => Boolean, { description: "Used by chats that choose none. Exactly one model is the default." })
  isDefault!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: "Tokens that fit into one call; null = not known yet: the vendor's answers will show it.",
  })
  contextLimit!: number | null;

  @Field(() => Int, { description: "Share of the context, in percent, at which history is summarised." })
  compactionThresholdPercent!: number;
}
