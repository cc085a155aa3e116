/** Creates an API token for the viewer. */
import { planToken } from "../../domain/users/token-rules.js";
import type { TokenScope, Viewer } from "../../domain/users/viewer.js";
import { countTokens, createToken, MAX_TOKENS_PER_USER, type TokenRecord } from "../../store/users/tokens.js";
import type { CommandResult } from "../common/command-result.js";
import { refuse } from "../common/command-dependencies.js";
import type { UserDependencies } from "./user-dependencies.js";

/** `expiresAt` in milliseconds since the epoch; absent = never. `scopes` absent = those of the viewer's credential. */
export type CreateApiTokenInput = { name: string; expiresAt?: number; scopes?: readonly TokenScope[] };

/** The secret is returned here and never again. */
export async function createApiToken(
  { database, clock }: UserDependencies,
  viewer: Viewer,
  input: CreateApiTokenInput,
): Promise<CommandResult<{ token: TokenRecord; secret: string }>> {
  const judged = planToken(viewer, input, clock.now());
  if ("message" in judged) return refuse({ code: "INVALID", ...judged });
  if ((await countTokens(database, viewer.userId)) >= MAX_TOKENS_PER_USER) {
    const message = `At most ${MAX_TOKENS_PER_USER} tokens can exist. Revoke one first.`;
    return refuse({ code: "LIMIT_EXCEEDED", message });
  }
  const created = await createToken(database, { userId: viewer.userId, ...judged });
  return { ok: true, token: created.record, secret: created.token };
}
