/** A person takes a token's rights away, for good. */
import type { Viewer } from "../../domain/users/viewer.js";
import { revokeToken } from "../../store/users/tokens.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { notFound } from "../common/command-dependencies.js";
import type { UserDependencies } from "./user-commands.js";

export async function revokeApiToken(
  { database, announceUsers }: UserDependencies,
  viewer: Viewer,
  tokenId: string,
): Promise<CommandResult<{ tokenId: string }>> {
  if (!(await revokeToken(database, viewer.userId, tokenId))) return notFound("API token", "tokenId");
  announceUsers();
  return { ok: true, tokenId };
}
