/** The viewer's Git host accounts. */
import { Arg, Ctx, FieldResolver, Mutation, Resolver } from "type-graphql";
import { encodeId } from "../../domain/common/ids.js";
import {
  ConnectGitHostInput,
  ConnectGitHostPayload,
  DisconnectGitHostInput,
  DisconnectGitHostPayload,
  GitHostAccount,
} from "../../schema/git/git-host-account.type.js";
import { SignedInViewer } from "../../schema/users/user.type.js";
import { listGitConnections } from "../../store/git/git-connections.js";
import type { Context } from "../common/context.js";
import { databaseId } from "../common/public-ids.js";
import { toGitHostAccount } from "../common/shapes.js";
import { toUserError } from "../common/user-errors.js";

@Resolver(() => SignedInViewer)
export class GitHostAccountResolver {
  @FieldResolver(() => [GitHostAccount], {
    description:
      "Git hosts that commands in the viewer's chats can use on their behalf, sorted by host. At most 50.",
  })
  async gitHostAccounts(@Ctx() { database, viewer }: Context): Promise<GitHostAccount[]> {
    return (await listGitConnections(database, viewer.userId)).map(toGitHostAccount);
  }

  @Mutation(() => ConnectGitHostPayload, {
    description:
      "Adds a token for a Git host. Commands in the viewer's chats use it from their next fetch or push on; Parley uses it to look up the account and the status of those chats' branches. Replaces an earlier account on the same host, which loses its ID.",
  })
  async connectGitHost(
    @Arg("input", () => ConnectGitHostInput, { description: "The parameters of the mutation." })
    input: ConnectGitHostInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<ConnectGitHostPayload> {
    const result = await commands.connectGitHost(viewer, { host: input.host, token: input.token });
    if (!result.ok) return { account: null, userErrors: [toUserError(result.refusal)] };
    return { account: toGitHostAccount(result.connection), userErrors: [] };
  }

  @Mutation(() => DisconnectGitHostPayload, {
    description:
      "Removes a Git host account and its token. The token remains valid on the host until it is revoked there.",
  })
  async disconnectGitHost(
    @Arg("input", () => DisconnectGitHostInput, { description: "The parameters of the mutation." })
    input: DisconnectGitHostInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<DisconnectGitHostPayload> {
    const id = databaseId("git", input.accountId, "accountId");
    const result = await commands.disconnectGitHost(viewer, id);
    if (!result.ok) return { deletedId: null, userErrors: [toUserError(result.refusal)] };
    return { deletedId: encodeId("git", result.connectionId), userErrors: [] };
  }
}
