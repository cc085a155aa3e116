/** A person takes a token's rights away, for good. */
import type { Viewer } from "../../domain/viewer.js";
import { revokeToken } from "../../store/tokens.js";
import type { CommandResult } from "./chat-commands.js";
import { notFound } from "./command-parts.js";
import type { PeopleParts } from "./people-commands.js";

export async function revokeApiToken(
  { database, announcePeople }: PeopleParts,
  viewer: Viewer,
  tokenId: string,
): Promise<CommandResult<{ tokenId: string }>> {
  if (!(await revokeToken(database, viewer.userId, tokenId))) return notFound("API token", "tokenId");
  announcePeople();
  return { ok: true, tokenId };
}
