/**
 * Parser for `git status --porcelain=v2 --branch -z`. Names are decoded as Latin-1, one character for each byte,
 * because a file's name need not be UTF-8. Pure.
 */

export type GitStatus = {
  /** Null when HEAD is detached. */
  branch: string | null;
  /** False before the first commit. */
  hasCommit: boolean;
  /** The newest commit, when the branch's push target is at it as well; null when it is not, or there is no target. */
  pushedCommit: string | null;
  /** Names of files that differ from HEAD or from the index. */
  changed: string[];
  /** Names of files that are neither tracked nor ignored; no folders. */
  untracked: string[];
};

/** Fields before the name of a changed file, by the record's first character. */
const FIELDS_BEFORE_NAME: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10 };

/** Skips a truncated last record. */
export function parseStatus(output: Buffer): GitStatus {
  const records = output.toString("latin1").split("\0").slice(0, -1);
  const status: GitStatus = {
    ...{ branch: null, hasCommit: false, pushedCommit: null },
    ...{ changed: [], untracked: [] },
  };
  let commit = "";
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] ?? "";
    const kind = record.charAt(0);
    if (kind === "#") commit = readHeader(record, status) ?? commit;
    // Follows the commit's record, and exists only for a branch with a push target.
    if (record === "# branch.ab +0 -0") status.pushedCommit = commit;
    // A folder is a nested repository, which is not part of this one.
    else if (kind === "?" && !record.endsWith("/")) status.untracked.push(record.slice(2));
    const fields = FIELDS_BEFORE_NAME[kind];
    if (fields !== undefined) status.changed.push(afterFields(record, fields));
    // The old name of a renamed file is a record of its own.
    if (kind === "2") index += 1;
  }
  return status;
}

/** Reads a header record into `status`; returns the newest commit when the record has it. */
function readHeader(record: string, status: GitStatus): string | undefined {
  const [, name, value = ""] = record.split(" ");
  if (name === "branch.oid") status.hasCommit = value !== "(initial)";
  if (name === "branch.head" && value !== "(detached)") {
    status.branch = Buffer.from(value, "latin1").toString("utf8");
  }
  return name === "branch.oid" && status.hasCommit ? value : undefined;
}

function afterFields(record: string, fields: number): string {
  let start = 0;
  for (let count = 0; count < fields; count += 1) start = record.indexOf(" ", start) + 1;
  return record.slice(start);
}
