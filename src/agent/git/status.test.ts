import { expect, test } from "vitest";
import { parseStatus } from "./status.js";

const OID = "75c2295b9591489b512fea28bb678918755e7ee4";

function statusOf(...records: string[]) {
  return parseStatus(Buffer.from(records.map((record) => `${record}\0`).join(""), "latin1"));
}

test("a status has the branch, what differs and what is not tracked", () => {
  expect(
    statusOf(
      `# branch.oid ${OID}`,
      "# branch.head feature/one",
      "# branch.ab +1 -0",
      `1 .M N... 100644 100644 100644 ${OID} ${OID} a file`,
      `2 R. N... 100644 100644 100644 ${OID} ${OID} R100 new name`,
      "? old name",
      `u UU N... 100644 100644 100644 100644 ${OID} ${OID} ${OID} torn`,
      "? d/e \xff",
      "? nested/",
    ),
  ).toEqual({
    branch: "feature/one",
    hasCommit: true,
    pushedCommit: null,
    changed: ["a file", "new name", "torn"],
    untracked: ["d/e \xff"],
  });
});

test("there need not be a branch or a commit", () => {
  const none = { pushedCommit: null, changed: [], untracked: [] };
  expect([
    statusOf("# branch.oid (initial)", "# branch.head main"),
    statusOf(`# branch.oid ${OID}`, "# branch.head (detached)"),
    parseStatus(Buffer.alloc(0)),
  ]).toEqual([
    { branch: "main", hasCommit: false, ...none },
    { branch: null, hasCommit: true, ...none },
    { branch: null, hasCommit: false, ...none },
  ]);
});

test("a branch that is where it is pushed to has its commit there", () => {
  const at = (...records: string[]) =>
    statusOf(`# branch.oid ${OID}`, "# branch.head main", ...records).pushedCommit;
  expect([at("# branch.upstream origin/main", "# branch.ab +0 -0"), at("# branch.ab +? -?"), at()]).toEqual([
    OID,
    null,
    null,
  ]);
});

test("what was cut off at the end is left out", () => {
  expect(parseStatus(Buffer.from("? one\0? tw")).untracked).toEqual(["one"]);
});
