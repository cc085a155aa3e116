/** Payloads of the mutations on model providers, models and users' own keys. */
import { Field, ID, ObjectType } from "type-graphql";
import { ModelConfig, ModelProvider } from "./model.type.js";
import { UserError } from "../common/user-error.interface.js";

const ERRORS =
  "Why the mutation was refused: every problem found, each with the path of its field. Empty on success.";

@ObjectType("CreateModelProviderPayload", { simpleResolvers: true, description: "The new provider." })
export class CreateModelProviderPayload {
  @Field(() => ModelProvider, {
    nullable: true,
    description: "The provider. Null if the mutation was refused.",
  })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateModelProviderPayload", {
  simpleResolvers: true,
  description: "The provider in its current state.",
})
export class UpdateModelProviderPayload {
  @Field(() => ModelProvider, {
    nullable: true,
    description: "The provider. Null if the mutation was refused.",
  })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteModelProviderPayload", {
  simpleResolvers: true,
  description: "The result of `deleteModelProvider`.",
})
export class DeleteModelProviderPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the deleted provider. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("CreateModelConfigPayload", { simpleResolvers: true, description: "The new model." })
export class CreateModelConfigPayload {
  @Field(() => ModelConfig, {
    nullable: true,
    description: "The model config. Null if the mutation was refused.",
  })
  modelConfig!: ModelConfig | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateModelConfigPayload", {
  simpleResolvers: true,
  description: "The model in its current state.",
})
export class UpdateModelConfigPayload {
  @Field(() => ModelConfig, {
    nullable: true,
    description: "The model config. Null if the mutation was refused.",
  })
  modelConfig!: ModelConfig | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteModelConfigPayload", {
  simpleResolvers: true,
  description: "The result of `deleteModelConfig`.",
})
export class DeleteModelConfigPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the deleted model. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SetViewerProviderKeyPayload", {
  simpleResolvers: true,
  description: "The provider with an updated `hasViewerKey`.",
})
export class SetViewerProviderKeyPayload {
  @Field(() => ModelProvider, {
    nullable: true,
    description: "The provider. Null if the mutation was refused.",
  })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
