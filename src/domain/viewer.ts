/** Who asks: the person behind a request or a socket, as their token says. */
export const USER_ROLES = ["member", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

export type Viewer = {
  userId: string;
  username: string;
  name: string;
  role: UserRole;
  /** Milliseconds since the epoch after which the token no longer counts; null = it does not expire. */
  expiresAt: number | null;
};
