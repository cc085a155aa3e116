/** The result of testing an MCP server. */
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import type { McpServerFailureKind } from "../../domain/mcp/types.js";
import { McpServerFailureKindEnum } from "../common/enums.js";
import { McpServer } from "./mcp-server.type.js";
import { McpTool } from "./mcp-tool.type.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("McpServerFailure", {
  simpleResolvers: true,
  description: "Why an MCP server could not be used.",
})
export class McpServerFailure {
  @Field(() => McpServerFailureKindEnum, { description: "The kind of failure." })
  kind!: McpServerFailureKind;

  @Field(() => String, { description: "A message to display. Contains no secrets." })
  message!: string;
}

@ObjectType("McpServerTestResult", {
  simpleResolvers: true,
  description:
    "The result of connecting to an MCP server on the admin's behalf and listing its tools, within 10 seconds.",
})
export class McpServerTestResult {
  @Field(() => Boolean, { description: "Whether the server's complete tool list was received." })
  isReachable!: boolean;

  @Field(() => Int, {
    description: "Time from the first request to the tool list or the failure, in milliseconds.",
  })
  latencyMs!: number;

  @Field(() => String, {
    nullable: true,
    description: "The server's own name. Null if it does not report one.",
  })
  serverName!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The server's own version. Null if it does not report one.",
  })
  serverVersion!: string | null;

  @Field(() => String, { nullable: true, description: "The negotiated protocol version." })
  protocolVersion!: string | null;

  @Field(() => Int, { nullable: true, description: "Number of tools. Null if unknown." })
  toolCount!: number | null;

  @Field(() => [McpTool], { nullable: true, description: "The server's tools. Null if unknown." })
  tools!: McpTool[] | null;

  @Field(() => McpServerFailure, {
    nullable: true,
    description: "Why the server could not be used. Null on success.",
  })
  failure!: McpServerFailure | null;
}

@InputType("TestMcpServerInput", { description: "Input of `testMcpServer`." })
export class TestMcpServerInput {
  @Field(() => ID, { description: "The server. May be disabled." })
  serverId!: string;
}

@ObjectType("TestMcpServerPayload", { simpleResolvers: true, description: "The result of `testMcpServer`." })
export class TestMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "The server. Null if the mutation was refused." })
  server!: McpServer | null;

  @Field(() => McpServerTestResult, {
    nullable: true,
    description: "The outcome, including failures to connect. Null if the mutation was refused.",
  })
  result!: McpServerTestResult | null;

  @Field(() => [UserError], { description: "Why no test was made. Empty on success." })
  userErrors!: UserError[];
}
