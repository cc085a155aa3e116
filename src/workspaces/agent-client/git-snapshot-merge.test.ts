import { expect, test } from "vitest";
import type { GitWatchMessage } from "../../agent/protocol/git.js";
import { GitFold, showsTheSame, type Scan } from "./git-snapshot-merge.js";

const AT = "2026-01-02T03:04:05.000Z";
const facts = { branch: "main", remoteOrigin: null, isTruncated: false };

function fold(messages: GitWatchMessage[], onto = new GitFold()): Scan[] {
  return messages.flatMap((message) => onto.take(message) ?? []);
}

const diff = (root: string, text: string): GitWatchMessage => ({ type: "diff", root, text });
const repository = (root: string, more = {}): GitWatchMessage => ({
  type: "repository",
  root,
  ...facts,
  ...more,
});
const scanned = (answers = 0): GitWatchMessage => ({ type: "scanned", at: AT, answers });

test("what is told between two scans becomes one whole snapshot, and the rest stays as it was", () => {
  const onto = new GitFold();
  const first = [{ type: "ready", hasGit: true }, diff("/b", "one "), diff("/b", "two"), repository("/b")];
  const scans = fold([...(first as GitWatchMessage[]), repository("/a", { branch: null }), scanned()], onto);
  const second = fold(
    [diff("/a", "three"), repository("/a"), { type: "removed", root: "/b" }, scanned(2)],
    onto,
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

test("snapshots hold no more than they may, and more repositories or longer diffs are no snapshot", () => {
  const text = "x".repeat(3 * 1024 * 1024);
  const onto = new GitFold();
  const roots = ["/a", "/b", "/c", "/d", "/e"];
  const [scan] = fold([...roots.flatMap((root) => [diff(root, text), repository(root)]), scanned()], onto);
  expect(scan?.snapshot.repositories.map((it) => [it.isTruncated, it.unifiedDiff.length > 100])).toEqual([
    [false, true],
    [false, true],
    [false, true],
    [false, true],
    [true, false],
  ]);
  expect(() => fold([diff("/f", text), diff("/f", "x")], onto)).toThrow("too long");
  const many = Array.from({ length: 33 }, (_, index) => repository(`/${index}`));
  expect(() => fold(many)).toThrow("Too many repositories");
});

test("a snapshot is news when anything in it differs but the time", () => {
  const of = (...messages: GitWatchMessage[]) => {
    const [scan] = fold([...messages, scanned()]);
    if (!scan) throw new Error("There is no scan.");
    return scan.snapshot;
  };
  const base = () => of(diff("/a", "text"), repository("/a"));
  expect([
    showsTheSame(base(), { ...base(), scannedAt: 0 }),
    showsTheSame(base(), of(diff("/a", "text!"), repository("/a"))),
    showsTheSame(base(), of(diff("/a", "text"), repository("/a", { branch: "other" }))),
    showsTheSame(base(), of(diff("/a", "text"), repository("/a"), repository("/b"))),
    showsTheSame(base(), of()),
  ]).toEqual([true, false, false, false, false]);
});
