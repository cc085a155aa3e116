import { expect, test } from "vitest";
import { requiredScopes } from "./scopes.js";

test.each([
  ["query", ["viewer"], ["read"]],
  ["subscription", ["chatEvents"], ["read"]],
  ["mutation", ["createChat"], ["chat"]],
  ["mutation", ["createChat", "archiveChat"], ["chat"]],
  ["mutation", ["setUserRole"], ["admin"]],
  ["mutation", ["createChat", "setUserRole"], ["chat", "admin"]],
] as const)("a %s of %j needs %j", (operation, fields, scopes) => {
  expect(requiredScopes(operation, fields)).toEqual(scopes);
});
