/** The git hosts that the viewer has connected. */
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
    description: "Git hosts that commands of their chats may use in their name, by host; at most 50.",
  })
  async gitHostAccounts(@Ctx() { database, viewer }: Context): Promise<GitHostAccount[]> {
    return (await listGitConnections(database, viewer.userId)).map(toGitHostAccount);
  }

  @Mutation(() => ConnectGitHostPayload, {
    description:
      "Gives commands of the viewer's chats a token for a git host, from their next fetch or push on. Parley itself asks the host with it who it is, and how those chats' branches stand. Takes the place of an earlier account there, also of its id.",
  })
  async connectGitHost(
    @Arg("input", () => ConnectGitHostInput, { description: "The host and the token." })
    input: ConnectGitHostInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<ConnectGitHostPayload> {
    const result = await commands.connectGitHost(viewer, { host: input.host, token: input.token });
    if (!result.ok) return { account: null, userErrors: [toUserError(result.refusal)] };
    return { account: toGitHostAccount(result.connection), userErrors: [] };
  }

  @Mutation(() => DisconnectGitHostPayload, {
    description: "Takes a git host's token away and forgets it. It stays valid at the host: revoke it there.",
  })
  async disconnectGitHost(
    @Arg("input", () => DisconnectGitHostInput, { description: "Which one." })
    input: DisconnectGitHostInput,
    @Ctx() { commands, viewer }: Context,
  ): Promise<DisconnectGitHostPayload> {
    const id = databaseId("git", input.accountId, "accountId");
    const result = await commands.disconnectGitHost(viewer, id);
    if (!result.ok) return { deletedId: null, userErrors: [toUserError(result.refusal)] };
    return { deletedId: encodeId("git", result.connectionId), userErrors: [] };
  }
}
