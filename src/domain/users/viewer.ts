/** Who asks: the person behind a request or a socket, as what they have shown says. */
export const USER_ROLES = ["member", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** What a token may be used for. `read`: queries and subscriptions; `chat`: a member's mutations; `admin`: an admin's rights. */
export const TOKEN_SCOPES = ["read", "chat", "admin"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** What somebody has shown to say who they are: an API token, a browser's session, or a token of the identity provider. */
export type Credential = { kind: "token" | "session" | "jwt"; scopes: readonly TokenScope[] };

export type Viewer = {
  userId: string;
  username: string;
  name: string;
  /** What counts for rights: an admin who shows a token without the scope `admin` is a member here. */
  role: UserRole;
  /** Milliseconds since the epoch after which what was shown no longer counts; null = it does not expire. */
  expiresAt: number | null;
  /** Absent = everything that the person may do. */
  credential?: Credential;
};

/** An admin's act: who, and in which request. */
export type Actor = Viewer & { requestId: string };

/** What was asked is not the viewer's to ask. The message is for them, and tells nothing about what exists. */
export class Forbidden extends Error {
  override readonly name = "Forbidden";
}

/** Throws {@link Forbidden} for anybody but admins. */
export function demandAdmin(viewer: Viewer): void {
  if (viewer.role !== "admin") throw new Forbidden("Only admins may do this.");
}

/** What the viewer may use what they have shown for. */
export function scopesOf(viewer: Viewer): readonly TokenScope[] {
  return viewer.credential?.scopes ?? TOKEN_SCOPES;
}

/** The role that counts for somebody with that role who has shown something with these scopes. */
export function roleWithin(role: UserRole, scopes: readonly TokenScope[]): UserRole {
  return scopes.includes("admin") ? role : "member";
}
