// Who asks, and what scopes make of a rule: the only thing that lines do not say each for itself.

/** Everything that the questions are about belongs to `owner`, unless a line says otherwise. */
export const ASKERS = [
  "anonymous",
  "owner",
  "other member",
  "admin",
  // Tokens with no other scopes than these.
  "owner's READ",
  "owner's CHAT",
  "admin's ADMIN",
  "admin's READ",
  "admin's READ+ADMIN",
] as const;
export type Asker = (typeof ASKERS)[number];

/**
 * What somebody gets. `shown`: what was asked for; `nothing`: null, or a list without it; `no scope` and
 * `no permission`: FORBIDDEN, for the token or for the person; all else is the code of an error or of a refusal.
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

export type Cells = Record<Asker, string>;

/** What people get who have shown all that they are. */
export type Rule = { owner: Outcome; other: Outcome; admin: Outcome };

/** `read`: queries and subscriptions; `change`: a member's mutations; `administer`: an admin's. */
export type Kind = "read" | "change" | "administer";

/** For everybody: the rule's three, and what is left of them with less than all scopes. */
export function cellsOf(kind: Kind, { owner, other, admin }: Rule): Cells {
  const people = { anonymous: "UNAUTHENTICATED", owner, "other member": other, admin };
  const none = "no scope";
  switch (kind) {
    case "read":
      // Without ADMIN an admin is a member, to whom all of this is another's.
      return {
        ...people,
        ...{ "owner's READ": owner, "owner's CHAT": none },
        ...{ "admin's ADMIN": none, "admin's READ": other, "admin's READ+ADMIN": admin },
      };
    case "change":
      return {
        ...people,
        ...{ "owner's READ": none, "owner's CHAT": owner },
        ...{ "admin's ADMIN": none, "admin's READ": none, "admin's READ+ADMIN": none },
      };
    case "administer":
      return {
        ...people,
        ...{ "owner's READ": none, "owner's CHAT": none },
        ...{ "admin's ADMIN": admin, "admin's READ": none, "admin's READ+ADMIN": admin },
      };
  }
}

/** Everybody who is signed in: the same thing, or each their own. */
export const EVERYBODY: Rule = { owner: "shown", other: "shown", admin: "shown" };
/** The owner, and admins, who see and steer all chats. */
export const OWNER_AND_ADMINS: Rule = { owner: "shown", other: "nothing", admin: "shown" };
/** The owner alone, whatever anybody else is. */
export const OWNER_ALONE: Rule = { owner: "shown", other: "nothing", admin: "nothing" };
/** Admins; to others it is null or not there. */
export const ADMINS: Rule = { owner: "nothing", other: "nothing", admin: "shown" };
/** Admins; others are told that they may not ask. */
export const ADMINS_ASK: Rule = { owner: "no permission", other: "no permission", admin: "shown" };
/** Nobody gets it in this case. */
export const NOBODY: Rule = { owner: "nothing", other: "nothing", admin: "nothing" };

/** A change of something of the owner's, which others are told does not exist. */
export function changeOf(owner: Outcome, { admin = owner, other = "NOT_FOUND" as Outcome } = {}): Rule {
  return { owner, other, admin };
}
