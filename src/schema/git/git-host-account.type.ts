/** Git hosts to which a person has given a token. */
import { Field, ID, InputType, ObjectType } from "type-graphql";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("GitHostAccount", {
  implements: Node,
  simpleResolvers: true,
  description:
    "A git host where commands of the viewer's chats may fetch and push over HTTPS in the viewer's name. The token itself is never shown.",
})
export class GitHostAccount implements Node {
  readonly __typename!: "GitHostAccount";

  id!: string;

  @Field(() => String, {
    description:
      "As in `github.com` or `git.example:8443`; `http://…` for one that is spoken to without encryption.",
  })
  host!: string;

  @Field(() => String, {
    nullable: true,
    description: "Who the token is there; null while the host has not been asked.",
  })
  login!: string | null;

  @Field(() => DateTimeScalar, { description: "When the token was given; another token is another account." })
  createdAt!: Date;
}

@InputType("ConnectGitHostInput", { description: "A git host and the viewer's token for it." })
export class ConnectGitHostInput {
  @Field(() => String, {
    description:
      "Its name, with the port unless it is the usual one. `http://` before it allows the token to travel unencrypted; without that it never does.",
  })
  host!: string;

  @Field(() => String, {
    description:
      "A personal access token or the like, at most 4,096 visible ASCII characters. Give it no more rights than chats need: whatever runs in a chat can use it.",
  })
  token!: string;
}

@ObjectType("ConnectGitHostPayload", { simpleResolvers: true, description: "The new account." })
export class ConnectGitHostPayload {
  @Field(() => GitHostAccount, { nullable: true, description: "Null when it was refused." })
  account!: GitHostAccount | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}

@InputType("DisconnectGitHostInput", { description: "Which account to disconnect." })
export class DisconnectGitHostInput {
  @Field(() => ID, { description: "One of the viewer's own." })
  accountId!: string;
}

@ObjectType("DisconnectGitHostPayload", { simpleResolvers: true, description: "The account that was." })
export class DisconnectGitHostPayload {
  @Field(() => ID, { nullable: true, description: "Null when it was refused." })
  deletedId!: string | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
