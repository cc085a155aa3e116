/** What comes of trying out a tool server. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { McpServerFailureKind } from "../../domain/mcp/types.js";
import { McpServerFailureKindEnum } from "../common/enums.js";
import { McpServer } from "./mcp-server.type.js";
import { McpTool } from "./mcp-tool.type.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("McpServerFailure", {
  simpleResolvers: true,
  description: "Why a tool server could not be used.",
})
export class McpServerFailure {
  @Field(() => McpServerFailureKindEnum, { description: "What kind of failure it is." })
  kind!: McpServerFailureKind;

  @Field(() => String, { description: "For people; without secrets." })
  message!: string;
}

@ObjectType("McpServerTrial", {
  simpleResolvers: true,
  description:
    "A try to use a tool server: connect in the admin's name and list its tools, at most 10 seconds.",
})
export class McpServerTrial {
  @Field(() => Boolean, { description: "Whether the whole list of tools was told." })
  isReachable!: boolean;

  @Field(() => Int, { description: "From the first request to the list, or to the failure." })
  latencyMs!: number;

  @Field(() => String, {
    nullable: true,
    description: "What the server calls itself; null when it does not say.",
  })
  serverName!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The server's own version; null when it does not say.",
  })
  serverVersion!: string | null;

  @Field(() => String, { nullable: true, description: "The protocol's version that both agreed on." })
  protocolVersion!: string | null;

  @Field(() => Int, { nullable: true, description: "How many tools it has; null when that is not known." })
  toolCount!: number | null;

  @Field(() => [McpTool], { nullable: true, description: "Its tools; null when they are not known." })
  tools!: McpTool[] | null;

  @Field(() => McpServerFailure, { nullable: true, description: "Why it is not reachable; null when it is." })
  failure!: McpServerFailure | null;
}

@InputType("TestMcpServerInput", { description: "Which tool server to try." })
export class TestMcpServerInput {
  @Field(() => ID, { description: "The server; it may be disabled." })
  serverId!: string;
}

@ObjectType("TestMcpServerPayload", { simpleResolvers: true, description: "What came of it." })
export class TestMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "The server; null when there is none to try." })
  server!: McpServer | null;

  @Field(() => McpServerTrial, {
    nullable: true,
    description:
      "What came of it, a server that cannot be reached included; null when there was none to try.",
  })
  trial!: McpServerTrial | null;

  @Field(() => [UserError], { description: "Why nothing was tried; empty on success." })
  userErrors!: UserError[];
}
