/** Tool servers (MCP) that admins registered, as people choose them and as admins see them. */
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
  description:
    "A tool server's settings, and which of its secrets are there. Secrets themselves are never shown.",
})
export class McpServerAdmin {
  @Field(() => UrlScalar, { description: "Where it is asked." })
  url!: string;

  @Field(() => String, {
    nullable: true,
    description: "The OAuth client that an admin gave; null = Parley registers itself.",
  })
  oauthClientId!: string | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "Where people authorise, as an admin gave it; null = found by the server's own metadata.",
  })
  oauthAuthorizeUrl!: string | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "Where tokens are made, as an admin gave it; null = found by the server's own metadata.",
  })
  oauthTokenUrl!: string | null;

  @Field(() => [String], { description: "What is asked for; empty = what the server's metadata names." })
  oauthScopes!: string[];

  @Field(() => String, {
    nullable: true,
    description: "The header that carries the key; null = there is none.",
  })
  apiKeyHeader!: string | null;

  @Field(() => Boolean, { description: "Whether a secret of the OAuth client is kept." })
  hasOauthSecret!: boolean;

  @Field(() => Boolean, { description: "Whether a key is kept." })
  hasApiKey!: boolean;

  @Field(() => Boolean, { description: "Whether headers are kept." })
  hasCustomHeaders!: boolean;

  @Field(() => [String], {
    description: "The server's own names of the tools that turns may use; empty = all but those denied.",
  })
  toolAllowList!: string[];

  @Field(() => [String], { description: "The server's own names of tools that turns may not use." })
  toolDenyList!: string[];

  @Field(() => Boolean, {
    description:
      "Whether it, and the authorisation server behind it, may be on this machine or in a private network.",
  })
  isPrivateNetworkAllowed!: boolean;

  @Field(() => DateTimeScalar, { description: "When an admin changed it last." })
  updatedAt!: Date;
}

@ObjectType("McpAccount", {
  simpleResolvers: true,
  description: "How the viewer stands with a tool server, at the moment of asking.",
})
export class McpAccount {
  @Field(() => McpConnectionStatusEnum, { description: "Whether requests in the viewer's name can be made." })
  status!: McpConnectionStatus;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "When the viewer authorised it; null = they did not, or nothing is kept of it.",
  })
  connectedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the token that is used now ends. It is renewed before, so that CONNECTED stays true; null = it does not end, or nobody said.",
  })
  expiresAt!: Date | null;
}

@ObjectType("McpServer", {
  implements: Node,
  simpleResolvers: true,
  description:
    "A tool server (MCP) that admins registered. To anybody but admins a disabled one does not exist.",
})
export class McpServer implements Node {
  readonly __typename!: "McpServer";

  id!: string;

  /** The database's id. */
  serverId!: string;

  @Field(() => String, { description: "Stands before the names of its tools; unique, and never changes." })
  slug!: string;

  @Field(() => String, { description: "What people call it." })
  displayName!: string;

  @Field(() => String, { description: "What it is for; empty when nobody said." })
  description!: string;

  @Field(() => UrlScalar, { nullable: true, description: "A picture of it." })
  iconUrl!: string | null;

  @Field(() => Boolean, { description: "Whether turns may use it." })
  isEnabled!: boolean;

  @Field(() => McpAvailabilityEnum, { description: "Which chats use it." })
  availability!: McpAvailability;

  @Field(() => McpTransportEnum, { description: "How it is spoken to." })
  transport!: McpTransport;

  @Field(() => McpAuthKindEnum, { description: "How it knows who asks." })
  authKind!: McpAuthKind;

  @Field(() => DateTimeScalar, { description: "When it was registered." })
  createdAt!: Date;

  @Field(() => McpServerAdmin, {
    nullable: true,
    description: "Its settings. Admins only; null for everyone else.",
  })
  admin!: McpServerAdmin | null;
}
