/** Revokes one of the viewer's API tokens, for good and at once. */
import type { Viewer } from "../../domain/users/viewer.js";
import { revokeToken } from "../../store/users/tokens.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound } from "../common/command-dependencies.js";
import type { UserDependencies } from "./user-dependencies.js";

export async function revokeApiToken(
  { database, announceUsers }: UserDependencies,
  viewer: Viewer,
  tokenId: string,
): Promise<CommandResult<{ tokenId: string }>> {
  if (!(await revokeToken(database, viewer.userId, tokenId))) return notFound("API token", "tokenId");
  announceUsers();
  return { ok: true, tokenId };
}
