/** Connecting one's account with a tool server, and taking that back. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { McpServer } from "./mcp-server.type.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@InputType("StartMcpOauthInput", { description: "Which tool server to authorise." })
export class StartMcpOauthInput {
  @Field(() => ID, { description: "One whose `authKind` is OAUTH2." })
  serverId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "Where the browser goes in the end: a path here, or an address on an origin that the deployment allows. Absent or null: to a page that says that it is done, and tells the window that opened it.",
  })
  returnTo?: string | null;
}

@ObjectType("StartMcpOauthPayload", {
  simpleResolvers: true,
  description: "Open `authorizationUrl` in the person's browser; the rest happens there.",
})
export class StartMcpOauthPayload {
  @Field(() => UrlScalar, {
    nullable: true,
    description:
      "A page of ours that asks the person and then leads to the server's own sign-in. It is for the viewer alone: whoever goes on with it connects their account there to the viewer's here. Null when it was refused.",
  })
  authorizationUrl!: string | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "Until when it can be finished: ten minutes. Null when it was refused.",
  })
  expiresAt!: Date | null;

  @Field(() => [UserError], { description: "Why nothing was begun; empty on success." })
  userErrors!: UserError[];
}

@InputType("DisconnectMcpServerInput", { description: "Which tool server to disconnect." })
export class DisconnectMcpServerInput {
  @Field(() => ID, { description: "One that the viewer may see; it need not be connected." })
  serverId!: string;
}

@ObjectType("DisconnectMcpServerPayload", { simpleResolvers: true, description: "The server, disconnected." })
export class DisconnectMcpServerPayload {
  @Field(() => McpServer, { nullable: true, description: "Null when it was refused." })
  server!: McpServer | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
