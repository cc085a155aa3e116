import { expect, test } from "vitest";
import { planToken, type TokenRequest } from "./token-rules.js";
import type { Credential, Viewer } from "./viewer.js";

const NOW = 1_000_000;
const viewerWith = (credential: Credential | undefined, expiresAt: number | null): Viewer => ({
  ...{ userId: "1", username: "ada", name: "Ada", role: "admin", expiresAt },
  ...(credential && { credential }),
});
const whole = viewerWith({ kind: "token", scopes: ["read", "chat", "admin"] }, null);
const small = viewerWith({ kind: "token", scopes: ["read", "chat"] }, null);
const short = viewerWith({ kind: "token", scopes: ["read", "chat"] }, NOW + 10);
const service = viewerWith({ kind: "jwt", scopes: ["read", "chat", "admin"] }, NOW + 10);
const browser = viewerWith({ kind: "session", scopes: ["read", "chat", "admin"] }, NOW + 10);

test.each<[string, Viewer, TokenRequest, object]>([
  ["all that its maker has", whole, { name: "a" }, { name: "a", scopes: ["read", "chat", "admin"] }],
  ["less than its maker has", small, { name: "a", scopes: ["read"] }, { name: "a", scopes: ["read"] }],
  [
    "scopes in order, each once",
    whole,
    { name: " a ", scopes: ["chat", "read", "chat"] },
    { name: "a", scopes: ["read", "chat"] },
  ],
  [
    "an own end",
    whole,
    { name: "a", expiresAt: NOW + 5 },
    { name: "a", expiresAt: NOW + 5, scopes: ["read", "chat", "admin"] },
  ],
  [
    "its maker's end when none is asked for",
    short,
    { name: "a" },
    { name: "a", expiresAt: NOW + 10, scopes: ["read", "chat"] },
  ],
  [
    "no end after its maker's",
    service,
    { name: "a", expiresAt: NOW + 99, scopes: ["read"] },
    { name: "a", expiresAt: NOW + 10, scopes: ["read"] },
  ],
  [
    "an end after the browser's session",
    browser,
    { name: "a", scopes: ["read"] },
    { name: "a", scopes: ["read"] },
  ],
])("a token gets %s", (_what, viewer, request, token) => {
  expect(planToken(viewer, request, NOW)).toEqual(token);
});

test.each<[string, Viewer, TokenRequest, string]>([
  ["a scope that its maker has not", small, { name: "a", scopes: ["read", "admin"] }, "scopes"],
  ["no scope", whole, { name: "a", scopes: [] }, "scopes"],
  ["a blank name", whole, { name: "  " }, "name"],
  ["a name of 101 characters", whole, { name: "x".repeat(101) }, "name"],
  ["a name that the database cannot keep", whole, { name: "a\u0000" }, "name"],
  ["an end that is now", whole, { name: "a", expiresAt: NOW }, "expiresAt"],
])("no token has %s", (_what, viewer, request, field) => {
  expect(planToken(viewer, request, NOW)).toMatchObject({ path: [field] });
});
