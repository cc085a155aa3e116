import { expect, test } from "vitest";
import { isToolAllowed } from "./tools.js";

test.each<[allow: string[], deny: string[], allowed: string[]]>([
  [[], [], ["read", "write", "Read"]],
  [["read"], [], ["read"]],
  [[], ["write"], ["read", "Read"]],
  [["read", "gone"], ["write"], ["read"]],
  // Admins cannot save this; for a row from elsewhere the narrower rule, the allow list, applies.
  [["read"], ["read"], ["read"]],
])("of the tools read, write and Read, allowing %j and denying %j leaves %j", (allow, deny, allowed) => {
  const lists = { toolAllowList: allow, toolDenyList: deny };
  expect(["read", "write", "Read"].filter((name) => isToolAllowed(lists, name))).toEqual(allowed);
});
