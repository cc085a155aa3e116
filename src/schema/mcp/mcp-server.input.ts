/** Inputs of the mutations on MCP servers. Absent fields do not change; null clears optional values. */
import { Field, ID, InputType } from "type-graphql";
import type { McpAvailability, McpTransport } from "../../domain/mcp/types.js";
import { McpAvailabilityEnum, McpTransportEnum } from "../common/enums.js";
import { SecretInput } from "../common/secret.input.js";

const ADDRESS = "an absolute http(s) URL of at most 2,048 characters, without user information or fragment.";
const NAME = "The display name: 1 to 100 characters.";
const DESCRIPTION = "What the server is for: at most 2,000 characters.";
const ICON = "URL of the server's icon, http or https.";
const URL_MEANING = `The server's URL: ${ADDRESS}`;
const AVAILABILITY = "Which chats use the server.";
const ALLOW_LIST =
  "Names of the only tools that turns may use, as on the server, at most 200. If empty, all tools are allowed except those in `toolDenyList`.";
const DENY_LIST =
  "Names of tools that turns may not use, as on the server, at most 200. Must not overlap with `toolAllowList`.";
const PRIVATE =
  "Whether the server and its authorization server may be on the local machine or in a private network. Otherwise such addresses are blocked, whatever their names resolve to.";

@InputType("McpOauthInput", {
  description:
    "OAuth 2 settings of an MCP server. If empty, endpoints are discovered from the server's metadata and Parley registers itself as a client. Otherwise the client ID and both URLs are required.",
})
export class McpOauthInput {
  @Field(() => String, {
    nullable: true,
    description: "The client ID: at most 512 visible ASCII characters.",
  })
  clientId?: string | null;

  @Field(() => SecretInput, { nullable: true, description: "The client secret. Public clients have none." })
  clientSecret?: SecretInput | null;

  @Field(() => String, { nullable: true, description: `The authorization endpoint: ${ADDRESS}` })
  authorizeUrl?: string | null;

  @Field(() => String, { nullable: true, description: `The token endpoint: ${ADDRESS}` })
  tokenUrl?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: "The scopes to request, at most 100. If empty, those in the server's metadata.",
  })
  scopes?: string[] | null;
}

@InputType("McpApiKeyInput", { description: "An API key of the deployment, shared by all users." })
export class McpApiKeyInput {
  @Field(() => String, {
    nullable: true,
    description:
      "The header that carries the key, for example `Authorization`. Must not be a header of the protocol itself.",
  })
  header?: string | null;

  @Field(() => SecretInput, {
    nullable: true,
    description: "The header's full value, for example `Bearer …`: at most 8,192 visible ASCII characters.",
  })
  value?: SecretInput | null;
}

@InputType("McpHeaderInput", { description: "A header to send with each request to an MCP server." })
export class McpHeaderInput {
  @Field(() => String, {
    description:
      "The header's name, case-insensitive and unique in the list. Must not be a header of the protocol itself.",
  })
  name!: string;

  @Field(() => SecretInput, {
    nullable: true,
    description:
      "The header's value: at most 8,192 visible ASCII characters. If absent, the stored value of the header with this name is kept.",
  })
  value?: SecretInput | null;
}

@InputType("McpAuthInput", {
  description:
    "How requests to an MCP server are authenticated: exactly one field, which selects the kind. Changing the kind deletes the secrets of the previous one. Moving the server to another host requires its secrets to be given again.",
})
export class McpAuthInput {
  @Field(() => Boolean, { nullable: true, description: "Set to true for no authentication." })
  none?: boolean;

  @Field(() => McpOauthInput, { nullable: true, description: "Each user authorizes Parley individually." })
  oauth2?: McpOauthInput;

  @Field(() => McpApiKeyInput, { nullable: true, description: "An API key shared by all users." })
  apiKey?: McpApiKeyInput;

  @Field(() => [McpHeaderInput], {
    nullable: true,
    description: "Headers shared by all users, 1 to 20. Replaces the current list.",
  })
  headers?: McpHeaderInput[];

  @Field(() => Boolean, {
    nullable: true,
    description:
      "Set to true to send the identity token the user signed in to Parley with. The server can then act on the user's behalf.",
  })
  userIdentity?: boolean;
}

@InputType("CreateMcpServerInput", { description: "Input of `createMcpServer`." })
export class CreateMcpServerInput {
  @Field(() => String, {
    description:
      "The prefix of the server's tool names: at most 32 lowercase letters and digits, separated by `-` or single `_`. Cannot be changed.",
  })
  slug!: string;

  @Field(() => String, { description: NAME })
  displayName!: string;

  @Field(() => String, { nullable: true, defaultValue: "", description: DESCRIPTION })
  description?: string | null;

  @Field(() => String, { nullable: true, description: ICON })
  iconUrl?: string | null;

  @Field(() => String, { description: URL_MEANING })
  url!: string;

  @Field(() => McpTransportEnum, { description: "The transport used to talk to the server." })
  transport!: McpTransport;

  @Field(() => McpAuthInput, { description: "How requests to the server are authenticated." })
  auth!: McpAuthInput;

  @Field(() => McpAvailabilityEnum, {
    nullable: true,
    defaultValue: "default_off",
    description: AVAILABILITY,
  })
  availability?: McpAvailability | null;

  @Field(() => [String], { nullable: true, defaultValue: [], description: ALLOW_LIST })
  toolAllowList?: string[] | null;

  @Field(() => [String], { nullable: true, defaultValue: [], description: DENY_LIST })
  toolDenyList?: string[] | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: "Whether turns may use it." })
  isEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, defaultValue: false, description: PRIVATE })
  isPrivateNetworkAllowed?: boolean | null;
}

@InputType("UpdateMcpServerInput", {
  description: "Input of `updateMcpServer`. Fields that are absent do not change.",
})
export class UpdateMcpServerInput {
  @Field(() => ID, { description: "The server." })
  serverId!: string;

  @Field(() => String, { nullable: true, description: NAME })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: `${DESCRIPTION} Null for none.` })
  description?: string | null;

  @Field(() => String, { nullable: true, description: `${ICON} Null for none.` })
  iconUrl?: string | null;

  @Field(() => String, {
    nullable: true,
    description: `${URL_MEANING} Changing it ends users' authorizations, which were granted to the previous one.`,
  })
  url?: string | null;

  @Field(() => McpTransportEnum, { nullable: true, description: "The transport used to talk to the server." })
  transport?: McpTransport | null;

  @Field(() => McpAuthInput, {
    nullable: true,
    description:
      "How requests to the server are authenticated. Changing the kind, the OAuth client or an endpoint ends users' authorizations, which were granted to the previous one.",
  })
  auth?: McpAuthInput | null;

  @Field(() => McpAvailabilityEnum, { nullable: true, description: AVAILABILITY })
  availability?: McpAvailability | null;

  @Field(() => [String], { nullable: true, description: ALLOW_LIST })
  toolAllowList?: string[] | null;

  @Field(() => [String], { nullable: true, description: DENY_LIST })
  toolDenyList?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: "Whether turns may use it." })
  isEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: PRIVATE })
  isPrivateNetworkAllowed?: boolean | null;
}

@InputType("DeleteMcpServerInput", { description: "Input of `deleteMcpServer`." })
export class DeleteMcpServerInput {
  @Field(() => ID, { description: "The server." })
  serverId!: string;
}
