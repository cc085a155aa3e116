/** What an identity provider says of somebody, and what that makes of them here. Pure. */
import { toUsername } from "./user-rules.js";
import type { UserRole } from "./viewer.js";

export type Claims = Readonly<Record<string, unknown>>;

/** How claims are read. `roleClaim` null: roles are set here, by admins, and sign-ins leave them alone. */
export type ClaimRules = {
  /** A claim's name, or a path into it with dots between: `groups`, `realm_access.roles`. */
  roleClaim: string | null;
  /** Whoever has one of these there is an admin. */
  adminValues: readonly string[];
  /** Who may sign in, by the domain of their verified e-mail address, in lower case; empty = everybody. */
  allowedDomains: readonly string[];
};

/** Null = the claims do not decide. A claim that is missing makes a member: rights that were taken away must go. */
export function roleOf(claims: Claims, { roleClaim, adminValues }: ClaimRules): UserRole | null {
  if (roleClaim === null) return null;
  const value = claimAt(claims, roleClaim);
  const values = Array.isArray(value) ? value : [value];
  return values.some((it) => typeof it === "string" && adminValues.includes(it)) ? "admin" : "member";
}

/** A claim whose name has dots in it (`https://example.org/roles`) goes before a path of the same letters. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((value, name) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    return (value as Claims)[name];
  }, claims);
}

/** Null when they may sign in; otherwise why not, in words for them. */
export function signInProblem(claims: Claims, { allowedDomains }: ClaimRules): string | null {
  if (allowedDomains.length === 0) return null;
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== "string" || isVerified !== true) {
    return "Your identity provider has not confirmed an e-mail address of yours, which this deployment asks for.";
  }
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return allowedDomains.includes(domain)
    ? null
    : "Your e-mail address is of no domain that may sign in here.";
}

/** As whom they come in when they are new. */
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
