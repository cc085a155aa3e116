/** Payloads of the mutations on MCP servers. */
import { Field, ID, ObjectType } from "type-graphql";
import { McpServer } from "./mcp-server.type.js";
import { UserError } from "../common/user-error.interface.js";

const ERRORS =
  "Why the mutation was refused: every problem found, each with the path of its field. Empty on success.";

@ObjectType("CreateMcpServerPayload", { simpleResolvers: true, description: "The new server." })
export class CreateMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "The server. Null if the mutation was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("UpdateMcpServerPayload", {
  simpleResolvers: true,
  description: "The server in its current state.",
})
export class UpdateMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "The server. Null if the mutation was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}

@ObjectType("DeleteMcpServerPayload", {
  simpleResolvers: true,
  description: "The result of `deleteMcpServer`.",
})
export class DeleteMcpServerPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the deleted server. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: ERRORS })
  userErrors!: UserError[];
}
