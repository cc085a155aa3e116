/** Users' accounts on Git hosts. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("GitHostAccount", {
  implements: Node,
  simpleResolvers: true,
  description:
    "A Git host that commands in the viewer's chats can fetch from and push to over HTTPS on the viewer's behalf. Its token is never shown.",
})
export class GitHostAccount implements Node {
  readonly __typename!: "GitHostAccount";

  id!: string;

  @Field(() => String, {
    description:
      "The host name, as in `github.com` or `git.example:8443`. Starts with `http://` if the connection is not encrypted.",
  })
  host!: string;

  @Field(() => String, {
    nullable: true,
    description: "The user's login on the host. Null until the host has been contacted.",
  })
  login!: string | null;

  @Field(() => DateTimeScalar, {
    description: "When the token was added. Another token creates another account.",
  })
  createdAt!: Date;
}

@InputType("ConnectGitHostInput", { description: "Input of `connectGitHost`." })
export class ConnectGitHostInput {
  @Field(() => String, {
    description:
      "The host name, with a port unless it is the default. Prefix it with `http://` to allow sending the token unencrypted; otherwise it is only sent over HTTPS.",
  })
  host!: string;

  @Field(() => String, {
    description:
      "A personal access token or similar: at most 4,096 visible ASCII characters. Grant it only the permissions that chats need, as everything that runs in a chat can use it.",
  })
  token!: string;
}

@ObjectType("ConnectGitHostPayload", { simpleResolvers: true, description: "The new account." })
export class ConnectGitHostPayload {
  @Field(() => GitHostAccount, {
    nullable: true,
    description: "The account. Null if the mutation was refused.",
  })
  account!: GitHostAccount | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}

@InputType("DisconnectGitHostInput", { description: "Input of `disconnectGitHost`." })
export class DisconnectGitHostInput {
  @Field(() => ID, { description: "The account. Must belong to the viewer." })
  accountId!: string;
}

@ObjectType("DisconnectGitHostPayload", {
  simpleResolvers: true,
  description: "The result of `disconnectGitHost`.",
})
export class DisconnectGitHostPayload {
  @Field(() => ID, {
    nullable: true,
    description: "ID of the removed account. Null if the mutation was refused.",
  })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
