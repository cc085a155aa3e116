/** What the mutations on tool servers take. Absent keeps; null clears what can be without a value. */
import { Field, ID, InputType } from "type-graphql";
import type { McpAvailability, McpTransport } from "../../domain/mcp/types.js";
import { McpAvailabilityEnum, McpTransportEnum } from "../common/enums.js";
import { SecretInput } from "../common/secret.input.js";

const ADDRESS = "An absolute http(s) address of at most 2,048 characters, without a user and without #.";
const NAME = "What people call it: 1 to 100 characters.";
const DESCRIPTION = "What it is for: at most 2,000 characters.";
const ICON = "A picture of it: an http(s) address.";
const URL_MEANING = `Where it is asked. ${ADDRESS}`;
const AVAILABILITY = "Which chats use it.";
const ALLOW_LIST =
  "The server's own names of the only tools that turns may use, at most 200; empty = all but those denied.";
const DENY_LIST = "The server's own names of tools that turns may not use, at most 200; none of the allowed.";
const PRIVATE =
  "Whether it, and the authorisation server behind it, may be on this machine or in a private network. Without that they cannot be reached there, whatever their names resolve to.";

@InputType("McpOauthInput", {
  description:
    "Each person authorises Parley at the server. With nothing given, endpoints are found by the server's own metadata and Parley registers itself as a client; else a client's id and both addresses are needed.",
})
export class McpOauthInput {
  @Field(() => String, { nullable: true, description: "The client, at most 512 visible ASCII characters." })
  clientId?: string | null;

  @Field(() => SecretInput, { nullable: true, description: "The client's secret; public clients have none." })
  clientSecret?: SecretInput | null;

  @Field(() => String, { nullable: true, description: `Where people authorise. ${ADDRESS}` })
  authorizeUrl?: string | null;

  @Field(() => String, { nullable: true, description: `Where tokens are made. ${ADDRESS}` })
  tokenUrl?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: "What is asked for, at most 100, each an entry; empty = what the server's metadata names.",
  })
  scopes?: string[] | null;
}

@InputType("McpApiKeyInput", { description: "One key of this deployment, the same for everybody." })
export class McpApiKeyInput {
  @Field(() => String, {
    nullable: true,
    description: "The header that carries it, as in `Authorization`; not one of the protocol's own.",
  })
  header?: string | null;

  @Field(() => SecretInput, {
    nullable: true,
    description: "The header's whole value, as in `Bearer …`: at most 8,192 visible ASCII characters.",
  })
  value?: SecretInput | null;
}

@InputType("McpHeaderInput", { description: "One header that each request to the server carries." })
export class McpHeaderInput {
  @Field(() => String, {
    description: "Its name, once in the list in any case; not one of the protocol's own.",
  })
  name!: string;

  @Field(() => SecretInput, {
    nullable: true,
    description:
      "Its value: at most 8,192 visible ASCII characters. Absent keeps that of the stored header of this name.",
  })
  value?: SecretInput | null;
}

@InputType("McpAuthInput", {
  description:
    "Exactly one field: the kind of authorisation is the field that is set. Another kind than before forgets the former one's secrets. Whoever moves the server to another host gives its secrets anew.",
})
export class McpAuthInput {
  @Field(() => Boolean, { nullable: true, description: "True: the server asks nothing." })
  none?: boolean;

  @Field(() => McpOauthInput, { nullable: true, description: "Each person's own authorisation." })
  oauth2?: McpOauthInput;

  @Field(() => McpApiKeyInput, { nullable: true, description: "One key for everybody." })
  apiKey?: McpApiKeyInput;

  @Field(() => [McpHeaderInput], {
    nullable: true,
    description: "Headers for everybody, 1 to 20. The list is all there will be.",
  })
  headers?: McpHeaderInput[];

  @Field(() => Boolean, {
    nullable: true,
    description:
      "True: the identity token that the person signed in to Parley with. The server can act as them.",
  })
  userIdentity?: boolean;
}

@InputType("CreateMcpServerInput", { description: "A tool server to register." })
export class CreateMcpServerInput {
  @Field(() => String, {
    description:
      "Stands before the names of its tools: at most 32 lower-case letters and digits, with - or single _ between them. It never changes.",
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

  @Field(() => McpTransportEnum, { description: "How it is spoken to." })
  transport!: McpTransport;

  @Field(() => McpAuthInput, { description: "How it knows who asks." })
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

@InputType("UpdateMcpServerInput", { description: "What to change of a tool server; absent keeps." })
export class UpdateMcpServerInput {
  @Field(() => ID, { description: "The server." })
  serverId!: string;

  @Field(() => String, { nullable: true, description: NAME })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: `${DESCRIPTION} Null = none.` })
  description?: string | null;

  @Field(() => String, { nullable: true, description: `${ICON} Null = none.` })
  iconUrl?: string | null;

  @Field(() => String, {
    nullable: true,
    description: `${URL_MEANING} Another one ends what people authorised: it was for the former.`,
  })
  url?: string | null;

  @Field(() => McpTransportEnum, { nullable: true, description: "How it is spoken to." })
  transport?: McpTransport | null;

  @Field(() => McpAuthInput, {
    nullable: true,
    description:
      "How it knows who asks. Another kind, OAuth client or endpoint ends what people authorised: it was for the former.",
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

@InputType("DeleteMcpServerInput", { description: "Which tool server to delete." })
export class DeleteMcpServerInput {
  @Field(() => ID, { description: "The server." })
  serverId!: string;
}
