/** Mapping of an identity provider's claims to roles and user profiles. Pure. */
import { toUsername } from "./user-rules.js";
import type { UserRole } from "./viewer.js";

export type Claims = Readonly<Record<string, unknown>>;

/** Rules for reading claims. `roleClaim` null: roles are set by admins, and sign-ins do not change them. */
export type ClaimRules = {
  /** A claim's name, or a dotted path: `groups`, `realm_access.roles`. */
  roleClaim: string | null;
  /** Values of the role claim that make a user an admin. */
  adminValues: readonly string[];
  /** E-mail domains that may sign in, in lower case; the address must be verified. Empty = all. */
  allowedDomains: readonly string[];
};

/** The role by the claims; null = the claims do not decide. A missing claim means member, so that revoked rights are lost. */
export function roleOf(claims: Claims, { roleClaim, adminValues }: ClaimRules): UserRole | null {
  if (roleClaim === null) return null;
  const value = claimAt(claims, roleClaim);
  const values = Array.isArray(value) ? value : [value];
  return values.some((it) => typeof it === "string" && adminValues.includes(it)) ? "admin" : "member";
}

/** A claim whose name contains dots (`https://example.org/roles`) takes precedence over a path. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((value, name) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    return (value as Claims)[name];
  }, claims);
}

/** Why the user may not sign in, worded for them; null when they may. */
export function signInProblem(claims: Claims, { allowedDomains }: ClaimRules): string | null {
  if (allowedDomains.length === 0) return null;
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== "string" || isVerified !== true) {
    return "This deployment requires a verified e-mail address, and your identity provider has not verified yours.";
  }
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return allowedDomains.includes(domain)
    ? null
    : "Your e-mail address is not in a domain that may sign in here.";
}

/** Username and name of a new user. */
export function profileOf(claims: Claims): { username: string; name: string } {
  const texts = ["preferred_username", "nickname", "email", "name", "sub"].map((name) =>
    textOf(claims, name),
  );
  const username = texts.map((text) => toUsername(text)).find((found) => found !== null) ?? "user";
  const name = textOf(claims, "name") || textOf(claims, "preferred_username") || username;
  return { username, name: name.slice(0, MAX_NAME_CHARACTERS) };
}

const MAX_NAME_CHARACTERS = 200;

function textOf(claims: Claims, name: string): string {
  const value = claims[name];
  return typeof value === "string" ? value.replaceAll("\u0000", "").trim() : "";
}
