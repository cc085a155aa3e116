/** A tool of an MCP server. */
import { Field, ObjectType } from "type-graphql";
import type { JsonObject } from "../../domain/common/json.js";
import { JsonScalar } from "../scalars/json.js";

@ObjectType("McpTool", { simpleResolvers: true, description: "A tool of an MCP server." })
export class McpTool {
  @Field(() => String, {
    description:
      "The tool's name on its server. For tools of a workspace, prefixed with the name of their server.",
  })
  name!: string;

  @Field(() => String, { description: "What the tool does, as described by its server." })
  description!: string;

  @Field(() => JsonScalar, { description: "JSON Schema of the tool's arguments." })
  inputSchema!: JsonObject;

  @Field(() => Boolean, { description: "Whether turns may use it." })
  isAllowed!: boolean;
}
