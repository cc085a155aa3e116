import { expect, test } from "vitest";
import type { GitWatchMessage } from "../../agent/protocol/git.js";
import { GitSnapshotMerger, isSameSnapshot, type Scan } from "./git-snapshot-merge.js";

const AT = "2026-01-02T03:04:05.000Z";
const facts = { branch: "main", remoteOrigin: null, isTruncated: false };

function merge(messages: GitWatchMessage[], merger = new GitSnapshotMerger()): Scan[] {
  return messages.flatMap((message) => merger.apply(message) ?? []);
}

const diff = (root: string, text: string): GitWatchMessage => ({ type: "diff", root, text });
const repository = (root: string, more = {}): GitWatchMessage => ({
  type: "repository",
  root,
  ...facts,
  ...more,
});
const scanned = (answers = 0): GitWatchMessage => ({ type: "scanned", at: AT, answers });

test("messages between two scans are merged into one snapshot, other repositories stay as they were", () => {
  const merger = new GitSnapshotMerger();
  const first = [{ type: "ready", hasGit: true }, diff("/b", "one "), diff("/b", "two"), repository("/b")];
  const scans = merge(
    [...(first as GitWatchMessage[]), repository("/a", { branch: null }), scanned()],
    merger,
  );
  const second = merge(
    [diff("/a", "three"), repository("/a"), { type: "removed", root: "/b" }, scanned(2)],
    merger,
  );
  expect([...scans, ...second]).toEqual([
    {
      answers: 0,
      snapshot: {
        scannedAt: Date.parse(AT),
        repositories: [
          { root: "/a", ...facts, branch: null, unifiedDiff: "" },
          { root: "/b", ...facts, unifiedDiff: "one two" },
        ],
      },
    },
    {
      answers: 2,
      snapshot: {
        scannedAt: Date.parse(AT),
        repositories: [{ root: "/a", ...facts, unifiedDiff: "three" }],
      },
    },
  ]);
});

test("snapshots are bounded, and too many repositories or too long diffs are refused", () => {
  const text = "x".repeat(3 * 1024 * 1024);
  const merger = new GitSnapshotMerger();
  const roots = ["/a", "/b", "/c", "/d", "/e"];
  const [scan] = merge([...roots.flatMap((root) => [diff(root, text), repository(root)]), scanned()], merger);
  expect(scan?.snapshot.repositories.map((it) => [it.isTruncated, it.unifiedDiff.length > 100])).toEqual([
    [false, true],
    [false, true],
    [false, true],
    [false, true],
    [true, false],
  ]);
  expect(() => merge([diff("/f", text), diff("/f", "x")], merger)).toThrow("too long");
  const many = Array.from({ length: 33 }, (_, index) => repository(`/${index}`));
  expect(() => merge(many)).toThrow("too many repositories");
});

test("snapshots are the same when only their times differ", () => {
  const of = (...messages: GitWatchMessage[]) => {
    const [scan] = merge([...messages, scanned()]);
    if (!scan) throw new Error("There is no scan.");
    return scan.snapshot;
  };
  const base = () => of(diff("/a", "text"), repository("/a"));
  expect([
    isSameSnapshot(base(), { ...base(), scannedAt: 0 }),
    isSameSnapshot(base(), of(diff("/a", "text!"), repository("/a"))),
    isSameSnapshot(base(), of(diff("/a", "text"), repository("/a", { branch: "other" }))),
    isSameSnapshot(base(), of(diff("/a", "text"), repository("/a"), repository("/b"))),
    isSameSnapshot(base(), of()),
  ]).toEqual([true, false, false, false, false]);
});
