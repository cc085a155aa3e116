/** MCP servers of a workspace's own configuration files, and the permission that they need. */
import { Field, ObjectType } from "type-graphql";
import { DateTimeScalar } from "../scalars/date-time.js";

@ObjectType("WorkspaceMcpServer", {
  simpleResolvers: true,
  description:
    "An MCP server that a workspace's `.mcp.json` configures. Its texts come from the workspace: characters without a glyph of their own are shown as escapes.",
})
export class WorkspaceMcpServer {
  /** Database ID of the user who allowed it; null if no user has, or the user is gone. */
  allowedById!: string | null;

  @Field(() => String, {
    description:
      "Identifies the entry in its workspace: the hash of all that decides what is started. It changes with the entry.",
  })
  hash!: string;

  @Field(() => String, { description: "The server's name." })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "What is started, as a line for a shell: environment variables, program and arguments. `${NAME}` stands for a variable of the agent. Null for a remote server.",
  })
  commandLine!: string | null;

  @Field(() => String, { nullable: true, description: "The address of a remote server. Null for a program." })
  url!: string | null;

  @Field(() => [String], { description: "The headers that are sent to a remote server." })
  headers!: string[];

  @Field(() => String, { description: "The file that configures the server." })
  configFile!: string;

  @Field(() => String, {
    nullable: true,
    description: "What the file is a link to. Null if it is not a link.",
  })
  linkTarget!: string | null;

  @Field(() => DateTimeScalar, { description: "When the workspace first asked for permission." })
  requestedAt!: number;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When a user allowed it. Null if no user has.",
  })
  allowedAt!: number | null;
}
