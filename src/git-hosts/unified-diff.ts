/** Converts GitLab's diffs of single files to one unified diff, as git prints it. Pure. */
import { z } from "zod";

/** A file of GitLab's API. `diff` begins with the first hunk; it is empty when the host omitted it as too large. */
export const fileDiff = z.object({
  old_path: z.string(),
  new_path: z.string(),
  a_mode: z.string().nullish(),
  b_mode: z.string().nullish(),
  diff: z.string(),
  new_file: z.boolean().nullish(),
  renamed_file: z.boolean().nullish(),
  deleted_file: z.boolean().nullish(),
  collapsed: z.boolean().nullish(),
  too_large: z.boolean().nullish(),
});
export type FileDiff = z.infer<typeof fileDiff>;

/** The host omitted a file's diff, so the whole diff is not available. */
export class DiffLeftOut extends Error {
  override readonly name = "DiffLeftOut";
}

/** Throws `DiffLeftOut` when the diff of a file is missing. */
export function toUnified(files: readonly FileDiff[]): string {
  return files.map(oneFile).join("");
}

function oneFile(file: FileDiff): string {
  if (file.too_large || file.collapsed) throw new DiffLeftOut(`The host leaves out ${file.new_path}.`);
  const { old_path: from, new_path: to } = file;
  const lines = [`diff --git a/${from} b/${to}`, ...modesOf(file)];
  if (file.renamed_file) lines.push(`rename from ${from}`, `rename to ${to}`);
  const head = `${lines.join("\n")}\n`;
  // Binary files, and those that were only renamed, have no hunks.
  if (!file.diff.startsWith("@@")) return head + withLineEnd(file.diff);
  const before = file.new_file ? "/dev/null" : `a/${from}`;
  const after = file.deleted_file ? "/dev/null" : `b/${to}`;
  return `${head}--- ${before}\n+++ ${after}\n${withLineEnd(file.diff)}`;
}

function modesOf({ new_file, deleted_file, a_mode: before, b_mode: after }: FileDiff): string[] {
  if (new_file) return [`new file mode ${after ?? "100644"}`];
  if (deleted_file) return [`deleted file mode ${before ?? "100644"}`];
  return before && after && before !== after ? [`old mode ${before}`, `new mode ${after}`] : [];
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Added and removed lines; files that the host omitted count as none. */
export function countLines(files: readonly FileDiff[]): { additions: number; deletions: number } {
  let [additions, deletions] = [0, 0];
  for (const { diff } of files) {
    for (const line of diff.split("\n")) {
      if (line.startsWith("+")) additions += 1;
      else if (line.startsWith("-")) deletions += 1;
    }
  }
  return { additions, deletions };
}
