/** A tool of an MCP server. */
import { Field, ObjectType } from "type-graphql";
import type { JsonObject } from "../../domain/common/json.js";
import { JsonScalar } from "../scalars/json.js";

@ObjectType("McpTool", { simpleResolvers: true, description: "A tool of an MCP server." })
export class McpTool {
  @Field(() => String, {
    description: "Its server's own name for it; of a workspace's tool with its server's name before it.",
  })
  name!: string;

  @Field(() => String, { description: "What it does, in its server's words." })
  description!: string;

  @Field(() => JsonScalar, { description: "The JSON Schema of its arguments." })
  inputSchema!: JsonObject;

  @Field(() => Boolean, { description: "Whether turns may use it." })
  isAllowed!: boolean;
}
