/** Registered MCP servers, as seen by users and by admins. */
import { Field, ObjectType } from "type-graphql";
import type {
  McpAuthKind,
  McpAvailability,
  McpConnectionStatus,
  McpTransport,
} from "../../domain/mcp/types.js";
import {
  McpAuthKindEnum,
  McpAvailabilityEnum,
  McpConnectionStatusEnum,
  McpTransportEnum,
} from "../common/enums.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";

@ObjectType("McpServerAdmin", {
  simpleResolvers: true,
  description: "An MCP server's settings. Secrets are never shown, only whether they are set.",
})
export class McpServerAdmin {
  @Field(() => UrlScalar, { description: "The server's URL." })
  url!: string;

  @Field(() => String, {
    nullable: true,
    description: "The OAuth client ID set by an admin. Null if Parley registers itself.",
  })
  oauthClientId!: string | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "The authorization endpoint set by an admin. Null if discovered from the server's metadata.",
  })
  oauthAuthorizeUrl!: string | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "The token endpoint set by an admin. Null if discovered from the server's metadata.",
  })
  oauthTokenUrl!: string | null;

  @Field(() => [String], { description: "The scopes to request. If empty, those in the server's metadata." })
  oauthScopes!: string[];

  @Field(() => String, {
    nullable: true,
    description: "The header that carries the API key. Null if there is none.",
  })
  apiKeyHeader!: string | null;

  @Field(() => Boolean, { description: "Whether an OAuth client secret is stored." })
  hasOauthSecret!: boolean;

  @Field(() => Boolean, { description: "Whether an API key is stored." })
  hasApiKey!: boolean;

  @Field(() => Boolean, { description: "Whether custom headers are stored." })
  hasCustomHeaders!: boolean;

  @Field(() => [String], {
    description:
      "Names of the only tools that turns may use, as on the server. If empty, all tools are allowed except those in `toolDenyList`.",
  })
  toolAllowList!: string[];

  @Field(() => [String], { description: "Names of tools that turns may not use, as on the server." })
  toolDenyList!: string[];

  @Field(() => Boolean, {
    description:
      "Whether the server and its authorization server may be on the local machine or in a private network.",
  })
  isPrivateNetworkAllowed!: boolean;

  @Field(() => DateTimeScalar, { description: "When an admin last changed the settings." })
  updatedAt!: Date;
}

@ObjectType("McpAccount", {
  simpleResolvers: true,
  description: "The viewer's current connection to an MCP server.",
})
export class McpAccount {
  @Field(() => McpConnectionStatusEnum, {
    description: "Whether requests can be made on the viewer's behalf.",
  })
  status!: McpConnectionStatus;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the viewer authorized the server. Null if they did not, or if the time was not recorded.",
  })
  connectedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the current token expires. It is renewed before that, so the status remains CONNECTED. Null if it does not expire or if that is unknown.",
  })
  expiresAt!: Date | null;
}

@ObjectType("McpServer", {
  implements: Node,
  simpleResolvers: true,
  description: "An MCP server registered by an admin. Disabled servers are visible to admins only.",
})
export class McpServer implements Node {
  readonly __typename!: "McpServer";

  id!: string;

  /** Database ID. */
  serverId!: string;

  @Field(() => String, { description: "The prefix of the server's tool names. Unique and never changes." })
  slug!: string;

  @Field(() => String, { description: "The display name." })
  displayName!: string;

  @Field(() => String, { description: "What the server is for. May be empty." })
  description!: string;

  @Field(() => UrlScalar, { nullable: true, description: "URL of the server's icon." })
  iconUrl!: string | null;

  @Field(() => Boolean, { description: "Whether turns may use it." })
  isEnabled!: boolean;

  @Field(() => McpAvailabilityEnum, { description: "Which chats use the server." })
  availability!: McpAvailability;

  @Field(() => McpTransportEnum, { description: "The transport used to talk to the server." })
  transport!: McpTransport;

  @Field(() => McpAuthKindEnum, { description: "How requests to the server are authenticated." })
  authKind!: McpAuthKind;

  @Field(() => DateTimeScalar, { description: "When the server was registered." })
  createdAt!: Date;

  @Field(() => McpServerAdmin, {
    nullable: true,
    description: "The server's settings. Null unless the viewer is an admin.",
  })
  admin!: McpServerAdmin | null;
}
