/** A person makes a token for one of their programs. */
import { judgeToken } from "../../domain/users/token-rules.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { countTokens, createToken, MAX_TOKENS_PER_USER, type TokenRecord } from "../../store/users/tokens.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { refuse } from "../common/command-dependencies.js";
import type { CreateApiTokenInput, UserDependencies } from "./user-commands.js";

export async function createApiToken(
  { database, clock }: UserDependencies,
  viewer: Viewer,
  input: CreateApiTokenInput,
): Promise<CommandResult<{ token: TokenRecord; secret: string }>> {
  const judged = judgeToken(viewer, input, clock.now());
  if ("message" in judged) return refuse({ code: "INVALID", ...judged });
  if ((await countTokens(database, viewer.userId)) >= MAX_TOKENS_PER_USER) {
    const message = `At most ${MAX_TOKENS_PER_USER} tokens can be kept. Revoke one first.`;
    return refuse({ code: "LIMIT_EXCEEDED", message });
  }
  const made = await createToken(database, { userId: viewer.userId, ...judged });
  return { ok: true, token: made.record, secret: made.token };
}
