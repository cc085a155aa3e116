/** What the mutations on model providers, models and people's own keys answer. */
import { Field, ID, ObjectType } from "type-graphql";
import { ModelConfig, ModelProvider } from "./model.type.js";
import { UserError } from "../common/user-error.interface.js";

const ERRORS = "Why nothing was done: everything that is wrong, each with its field; empty on success.";

@ObjectType("CreateModelProviderPayload", { simpleResolvers: true, description: "The new provider." })
export class CreateModelProviderPayload {
  @Field(() => ModelProvider, { nullable: true, description: "Null when it was refused." })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateModelProviderPayload", {
  simpleResolvers: true,
  description: "The provider as it is now.",
})
export class UpdateModelProviderPayload {
  @Field(() => ModelProvider, { nullable: true, description: "Null when it was refused." })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteModelProviderPayload", { simpleResolvers: true, description: "The provider that was." })
export class DeleteModelProviderPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("CreateModelConfigPayload", { simpleResolvers: true, description: "The new model." })
export class CreateModelConfigPayload {
  @Field(() => ModelConfig, { nullable: true, description: "Null when it was refused." })
  modelConfig!: ModelConfig | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateModelConfigPayload", { simpleResolvers: true, description: "The model as it is now." })
export class UpdateModelConfigPayload {
  @Field(() => ModelConfig, { nullable: true, description: "Null when it was refused." })
  modelConfig!: ModelConfig | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteModelConfigPayload", { simpleResolvers: true, description: "The model that was." })
export class DeleteModelConfigPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("SetViewerProviderKeyPayload", {
  simpleResolvers: true,
  description: "The provider; `hasViewerKey` says how it stands now.",
})
export class SetViewerProviderKeyPayload {
  @Field(() => ModelProvider, { nullable: true, description: "Null when it was refused." })
  provider!: ModelProvider | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
