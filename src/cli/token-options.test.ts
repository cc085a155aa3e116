import { expect, test } from "vitest";
import { readExpiry, readScopes } from "./token-options.js";

const NOW = Date.parse("2026-11-21T12:00:00Z");

test.each<[string, string | null]>([
  ["30d", "2026-12-21T12:00:00.000Z"],
  ["2027-01-31", "2027-01-31T00:00:00.000Z"],
  ["2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000Z"],
  ["2027-01-31T12:00+02:00", "2027-01-31T10:00:00.000Z"],
  ["2026-11-21", null],
  ["2020-01-01", null],
  ["2027-02-31", null],
  ["2027-13-01", null],
  ["0d", null],
  ["99999d", null],
  ["tomorrow", null],
  ["", null],
  ["12", null],
])("a token with --expires %j expires at %s", (text, at) => {
  const read = readExpiry(text, NOW);
  expect(read === null ? null : new Date(read).toISOString()).toBe(at);
});

test.each<[string, string[] | null]>([
  ["read", ["read"]],
  ["admin, read", ["read", "admin"]],
  ["READ,chat,admin", ["read", "chat", "admin"]],
  ["", null],
  ["read,", null],
  ["write", null],
])("scopes %j are read as %j", (text, scopes) => {
  expect(readScopes(text)).toEqual(scopes);
});
