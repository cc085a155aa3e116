// The callers, and the effect of token scopes on a rule.

/** All objects belong to `owner`, unless an entry says otherwise. */
export const CALLERS = [
  "anonymous",
  "owner",
  "other member",
  "admin",
  // Tokens with only these scopes.
  "owner's READ",
  "owner's CHAT",
  "admin's ADMIN",
  "admin's READ",
  "admin's READ+ADMIN",
] as const;
export type Caller = (typeof CALLERS)[number];

/**
 * The outcome for a caller. `shown`: the value; `nothing`: null, or a list without it; `no scope` and `no permission`:
 * FORBIDDEN because of the token or of the user; all others are codes of errors or user errors.
 */
export type Outcome =
  | "shown"
  | "nothing"
  | "UNAUTHENTICATED"
  | "no scope"
  | "no permission"
  | "NOT_FOUND"
  | "INVALID"
  | "CONFLICT";

export type Cells = Record<Caller, string>;

/** Outcomes for users with all their rights. */
export type Rule = { owner: Outcome; other: Outcome; admin: Outcome };

/** `read`: queries and subscriptions; `change`: a member's mutations; `administer`: an admin's. */
export type Kind = "read" | "change" | "administer";

/** Outcomes for all callers: those of the rule, and those of tokens with fewer scopes. */
export function cellsOf(kind: Kind, { owner, other, admin }: Rule): Cells {
  const allScopes = { anonymous: "UNAUTHENTICATED", owner, "other member": other, admin };
  const none = "no scope";
  switch (kind) {
    case "read":
      // Without ADMIN an admin's token has the rights of a member, who owns none of this.
      return {
        ...allScopes,
        ...{ "owner's READ": owner, "owner's CHAT": none },
        ...{ "admin's ADMIN": none, "admin's READ": other, "admin's READ+ADMIN": admin },
      };
    case "change":
      return {
        ...allScopes,
        ...{ "owner's READ": none, "owner's CHAT": owner },
        ...{ "admin's ADMIN": none, "admin's READ": none, "admin's READ+ADMIN": none },
      };
    case "administer":
      return {
        ...allScopes,
        ...{ "owner's READ": none, "owner's CHAT": none },
        ...{ "admin's ADMIN": admin, "admin's READ": none, "admin's READ+ADMIN": admin },
      };
  }
}

/** All authenticated users: the same object, or each their own. */
export const ALL_USERS: Rule = { owner: "shown", other: "shown", admin: "shown" };
/** The owner, and admins, who can read and control all chats. */
export const OWNER_AND_ADMINS: Rule = { owner: "shown", other: "nothing", admin: "shown" };
/** Only the owner, not even admins. */
export const OWNER_ALONE: Rule = { owner: "shown", other: "nothing", admin: "nothing" };
/** Only admins; null or absent for others. */
export const ADMINS: Rule = { owner: "nothing", other: "nothing", admin: "shown" };
/** Only admins; FORBIDDEN for others. */
export const ADMINS_ASK: Rule = { owner: "no permission", other: "no permission", admin: "shown" };
/** Nothing for any user in this case. */
export const NO_USERS: Rule = { owner: "nothing", other: "nothing", admin: "nothing" };

/** A change of the owner's object, which is not found for others. */
export function changeOf(owner: Outcome, { admin = owner, other = "NOT_FOUND" as Outcome } = {}): Rule {
  return { owner, other, admin };
}
