/** The viewer: the user behind a request or socket, as authenticated by a credential. */
export const USER_ROLES = ["member", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** Token scopes. `read`: queries and subscriptions; `chat`: a member's mutations; `admin`: an admin's rights. */
export const TOKEN_SCOPES = ["read", "chat", "admin"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** How the viewer authenticated: with an API token, a browser session, or a token of the identity provider. */
export type Credential = { kind: "token" | "session" | "jwt"; scopes: readonly TokenScope[] };

export type Viewer = {
  userId: string;
  username: string;
  name: string;
  /** The effective role: an admin with a token without the scope `admin` is a member here. */
  role: UserRole;
  /** Expiry of the credential in milliseconds since the epoch; null = never. */
  expiresAt: number | null;
  /** Absent = everything that the user may do. */
  credential?: Credential;
};

/** The viewer of an audited action, with the request's id. */
export type Actor = Viewer & { requestId: string };

/** The viewer may not do this. The message is worded for them and does not reveal what exists. */
export class Forbidden extends Error {
  override readonly name = "Forbidden";
}

/** Throws {@link Forbidden} unless the viewer is an admin. */
export function demandAdmin(viewer: Viewer): void {
  if (viewer.role !== "admin") throw new Forbidden("Only admins may do this.");
}

/** The scopes of the viewer's credential. */
export function scopesOf(viewer: Viewer): readonly TokenScope[] {
  return viewer.credential?.scopes ?? TOKEN_SCOPES;
}

/** The effective role of a user who authenticated with these scopes. */
export function roleWithin(role: UserRole, scopes: readonly TokenScope[]): UserRole {
  return scopes.includes("admin") ? role : "member";
}
