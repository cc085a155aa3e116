/** Converts commands' refusals to the `userErrors` of payloads. */
import type { CommandRefusal } from "../../commands/common/command-result.js";
import type {
  Conflict,
  InvalidInput,
  McpAuthRequired,
  NotFound,
  ProviderKeyRequired,
  StorageLimitExceeded,
  UsageLimitExceeded,
  WorkspaceUnavailable,
} from "../../schema/common/user-error.interface.js";

export type UserErrorObject =
  | InvalidInput
  | NotFound
  | Conflict
  | McpAuthRequired
  | ProviderKeyRequired
  | StorageLimitExceeded
  | UsageLimitExceeded
  | WorkspaceUnavailable;

export function toUserError(refusal: CommandRefusal): UserErrorObject {
  const { code, message } = refusal;
  const path = refusal.path ?? null;
  switch (code) {
    case "INVALID":
      return { __typename: "InvalidInput", code, message, path };
    case "NOT_FOUND":
      return { __typename: "NotFound", code, message, path };
    case "CONFLICT":
    case "LIMIT_EXCEEDED":
      if (refusal.usage) return { __typename: "UsageLimitExceeded", code, message, path, ...refusal.usage };
      if (refusal.storage)
        return { __typename: "StorageLimitExceeded", code, message, path, ...refusal.storage };
      return { __typename: "Conflict", code, message, path, currentStatus: refusal.currentStatus ?? null };
    case "AUTH_REQUIRED":
      return { __typename: "McpAuthRequired", code, message, path, serverIds: refusal.serverIds ?? [] };
    case "KEY_REQUIRED":
      return { __typename: "ProviderKeyRequired", code, message, path, providerId: refusal.providerId ?? "" };
    case "UNAVAILABLE":
      // Other unavailable things have no type of their own.
      return refusal.what !== undefined || path?.[0] === "modelConfigId"
        ? { __typename: "Conflict", code, message, path, currentStatus: null }
        : workspaceUnavailable(refusal);
  }
}

function workspaceUnavailable({
  code,
  message,
  path,
  workspaceStatus,
}: CommandRefusal): WorkspaceUnavailable {
  return {
    __typename: "WorkspaceUnavailable",
    ...{ code, message, path: path ?? null, workspaceStatus: workspaceStatus ?? null },
  };
}

/** All problems of a refusal. */
export function toUserErrors(refusal: CommandRefusal): UserErrorObject[] {
  return [refusal, ...(refusal.others ?? [])].map(toUserError);
}

/** An invalid input value; `path` starts at the fields of `input`. */
export function invalid(message: string, ...path: (string | number)[]): InvalidInput {
  return { __typename: "InvalidInput", code: "INVALID", message, path: path.map(String) };
}
