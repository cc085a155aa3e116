import { expect, test } from "vitest";
import { type ClaimRules, profileOf, roleOf, signInProblem } from "./identity-claims.js";

const rules: ClaimRules = { roleClaim: "groups", adminValues: ["ops", "root"], allowedDomains: [] };

test.each<[string, object, Partial<ClaimRules>, string | null]>([
  ["a list with an admin's value", { groups: ["dev", "ops"] }, {}, "admin"],
  ["a single value", { groups: "root" }, {}, "admin"],
  ["a list without one", { groups: ["dev"] }, {}, "member"],
  ["an empty list", { groups: [] }, {}, "member"],
  ["no such claim", {}, {}, "member"],
  ["a claim of another kind", { groups: { ops: true } }, {}, "member"],
  ["a value that only contains it", { groups: "devops" }, {}, "member"],
  ["a path", { realm_access: { roles: ["ops"] } }, { roleClaim: "realm_access.roles" }, "admin"],
  ["a path that ends early", { realm_access: null }, { roleClaim: "realm_access.roles" }, "member"],
  [
    "a path into what objects inherit",
    {},
    { roleClaim: "constructor.name", adminValues: ["Object"] },
    "member",
  ],
  [
    "a name with dots",
    { "https://a.example/roles": ["ops"] },
    { roleClaim: "https://a.example/roles" },
    "admin",
  ],
  ["anything when no claim decides", { groups: ["ops"] }, { roleClaim: null }, null],
])("the role by %s", (_what, claims, more, role) => {
  expect(roleOf({ ...claims }, { ...rules, ...more })).toBe(role);
});

test.each<[object, string[], boolean]>([
  [{}, [], true],
  [{ email: "ada@example.org", email_verified: true }, ["example.org"], true],
  [{ email: "ada@EXAMPLE.org", email_verified: true }, ["example.org"], true],
  [{ email: "ada@example.org", email_verified: false }, ["example.org"], false],
  [{ email: "ada@example.org", email_verified: "true" }, ["example.org"], false],
  [{ email: "ada@example.org" }, ["example.org"], false],
  [{ email: "ada@evil.example", email_verified: true }, ["example.org"], false],
  [{ email: "ada@example.org@evil.example", email_verified: true }, ["example.org"], false],
  [{ email: "ada@notexample.org", email_verified: true }, ["example.org"], false],
  [{ email_verified: true }, ["example.org"], false],
])("whether %j may sign in where %j are allowed: %s", (claims, allowedDomains, may) => {
  expect(signInProblem({ ...claims }, { ...rules, allowedDomains }) === null).toBe(may);
});

test.each<[object, object]>([
  [
    { sub: "1", preferred_username: "Ada", name: "Ada Lovelace" },
    { username: "ada", name: "Ada Lovelace" },
  ],
  [
    { sub: "1", email: "Ada@Example.org" },
    { username: "ada@example.org", name: "ada@example.org" },
  ],
  [
    { sub: "auth0|12 3", name: "Ада" },
    { username: "auth012.3", name: "Ада" },
  ],
  [
    { sub: "§", name: 7 },
    { username: "user", name: "user" },
  ],
])("%j becomes the user %j", (claims, profile) => {
  expect(profileOf({ ...claims })).toEqual(profile);
});
