/** Connecting and disconnecting a user's account on an MCP server. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { McpServer } from "./mcp-server.type.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@InputType("StartMcpOauthInput", { description: "Input of `startMcpOauth`." })
export class StartMcpOauthInput {
  @Field(() => ID, { description: "The server. Its `authKind` must be OAUTH2." })
  serverId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "Where to redirect the browser in the end: a path on this server, or a URL with an origin allowed by the deployment. Defaults to a page that confirms the connection and notifies the window that opened it.",
  })
  returnTo?: string | null;
}

@ObjectType("StartMcpOauthPayload", {
  simpleResolvers: true,
  description: "The started authorization. Open `authorizationUrl` in the user's browser to continue.",
})
export class StartMcpOauthPayload {
  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "A page of this server that asks for the user's consent and then redirects to the MCP server's own sign-in. Must only be opened by the viewer: a user who completes it connects their account there to the viewer's account here. Null if the mutation was refused.",
  })
  authorizationUrl!: string | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the authorization attempt expires: after ten minutes. Null if the mutation was refused.",
  })
  expiresAt!: Date | null;

  @Field(() => [UserError], { description: "Why the authorization was not started. Empty on success." })
  userErrors!: UserError[];
}

@InputType("DisconnectMcpServerInput", { description: "Input of `disconnectMcpServer`." })
export class DisconnectMcpServerInput {
  @Field(() => ID, { description: "The server. Must be visible to the viewer, but need not be connected." })
  serverId!: string;
}

@ObjectType("DisconnectMcpServerPayload", { simpleResolvers: true, description: "The disconnected server." })
export class DisconnectMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "The server. Null if the mutation was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
