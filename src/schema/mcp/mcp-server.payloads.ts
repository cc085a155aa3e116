/** What the mutations on tool servers answer. */
import { Field, ID, ObjectType } from "type-graphql";
import { McpServer } from "./mcp-server.type.js";
import { UserError } from "../common/user-error.interface.js";

const ERRORS = "Why nothing was done: everything that is wrong, each with its field; empty on success.";

@ObjectType("CreateMcpServerPayload", { simpleResolvers: true, description: "The new server." })
export class CreateMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "Null when it was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateMcpServerPayload", { simpleResolvers: true, description: "The server as it is now." })
export class UpdateMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "Null when it was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteMcpServerPayload", { simpleResolvers: true, description: "The server that was." })
export class DeleteMcpServerPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
