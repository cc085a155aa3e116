/** Refusals as the payloads' `userErrors` show them. */
import type { CommandRefusal } from "../engine/commands/chat-commands.js";
import type {
  Conflict,
  InvalidInput,
  NotFound,
  WorkspaceUnavailable,
} from "../schema/user-error.interface.js";

export type UserErrorObject = InvalidInput | NotFound | Conflict | WorkspaceUnavailable;

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
      return { __typename: "Conflict", code, message, path, currentStatus: refusal.currentStatus ?? null };
    case "UNAVAILABLE":
      // What else can be missing has no type of its own.
      return refusal.what !== undefined || path?.[0] === "modelConfigId"
        ? { __typename: "Conflict", code, message, path, currentStatus: null }
        : { __typename: "WorkspaceUnavailable", code, message, path };
  }
}

/** A value of the input that cannot be used; `path` from the input's root. */
export function invalid(message: string, ...path: (string | number)[]): InvalidInput {
  return { __typename: "InvalidInput", code: "INVALID", message, path: path.map(String) };
}
