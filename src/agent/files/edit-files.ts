/**
 * Replaces text in one or more files: all edits of all files are computed first, and nothing is written unless every
 * one of them succeeds.
 */
import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { done, refused, type Outcome, type Refusal } from "../outcome.js";
import { MAX_WRITE_BYTES, type EditFilesAnswer, type EditFilesRequest } from "../protocol/files.js";
import { stageFile, type StagedFile } from "./atomic-write.js";
import { diffLimits, unifiedDiff } from "./edit-diff.js";
import { applyEdit, type Edit } from "./match.js";
import type { PathLocks } from "./path-locks.js";
import { absolutePath, fileRefusal, resolveLinks } from "./paths.js";

/** `path` is as the caller wrote it, `realPath` has no links. */
type Target = { path: string; realPath: string; edits: Edit[] };
type EditedFile = { target: Target; before: string; text: string; replacements: number };

/**
 * A refusal combines the problems of all files. A failure of the last step, the renaming of the staged files, can leave
 * some files changed; the message then names them.
 */
export async function editFiles(
  directory: string,
  locks: PathLocks,
  request: EditFilesRequest,
): Promise<Outcome<EditFilesAnswer>> {
  const targets = await findTargets(directory, request);
  if (targets.kind === "refused") return targets;
  const realPaths = targets.value.map(({ realPath }) => realPath);
  return locks.runExclusive(realPaths, async () => {
    const edited = combine(await inOrder(targets.value, editOne));
    if (edited.kind === "refused") return edited;
    const answer = await describe(edited.value, request.includeDiff ?? false);
    const written = await writeAll(edited.value.filter(({ before, text }) => text !== before));
    return written.kind === "refused" ? written : done(answer);
  });
}

async function describe(files: readonly EditedFile[], includeDiff: boolean): Promise<EditFilesAnswer> {
  const limits = diffLimits(files.length);
  return {
    files: await inOrder(files, async ({ target: { path }, before, text, replacements }) => {
      if (!includeDiff) return { path, replacements };
      await setImmediate();
      return { path, replacements, diff: unifiedDiff(path, before, text, limits) };
    }),
  };
}

/** Merges entries for the same path into one target; refuses two names for one file. */
async function findTargets(directory: string, request: EditFilesRequest): Promise<Outcome<Target[]>> {
  const byPath = new Map<string, { path: string; edits: Edit[] }>();
  for (const { path, edits } of request.files) {
    const absolute = absolutePath(directory, path);
    const known = byPath.get(absolute);
    if (known === undefined) byPath.set(absolute, { path, edits: [...edits] });
    else known.edits.push(...edits);
  }
  const targets = combine(
    await inOrder([...byPath], async ([absolute, { path, edits }]): Promise<Outcome<Target>> => {
      const resolved = await resolveLinks(absolute);
      return resolved.kind === "refused" ? resolved : done({ path, realPath: resolved.value, edits });
    }),
  );
  return targets.kind === "refused" ? targets : refuseAliases(targets.value);
}

function refuseAliases(targets: Target[]): Outcome<Target[]> {
  const seen = new Map<string, string>();
  for (const { path, realPath } of targets) {
    const alias = seen.get(realPath);
    if (alias !== undefined) {
      return refused(400, `${path} and ${alias} are aliases of the same file; name it in one way.`, {
        field: "path",
      });
    }
    seen.set(realPath, path);
  }
  return done(targets);
}

async function editOne(target: Target): Promise<Outcome<EditedFile>> {
  const original = await readEditable(target);
  if (original.kind === "refused") return original;
  let text = original.value;
  let replacements = 0;
  for (const [index, edit] of target.edits.entries()) {
    // Large files and many edits take seconds; other requests are served in between.
    await setImmediate();
    const outcome = applyEdit(text, edit, MAX_WRITE_BYTES);
    if (outcome.kind !== "edited") {
      const which = target.edits.length === 1 ? "" : `edit ${index + 1} of ${target.edits.length}: `;
      const [status, field] = outcome.kind === "too-large" ? [413, "newText"] : [400, "oldText"];
      return refused(status, `${target.path}: ${which}${outcome.reason}`, { field });
    }
    text = outcome.text;
    replacements += outcome.replacements;
  }
  if (Buffer.byteLength(text) > MAX_WRITE_BYTES) {
    return refused(413, `${target.path}: the result would have more than ${MAX_WRITE_BYTES} bytes.`);
  }
  return done({ target, before: original.value, text, replacements });
}

async function readEditable({ path, realPath }: Target): Promise<Outcome<string>> {
  try {
    const stats = await stat(realPath);
    if (stats.isDirectory()) return refused(400, `${path} is a directory.`, { field: "path" });
    if (!stats.isFile()) return refused(400, `${path} is not a regular file.`, { field: "path" });
    if (stats.size > MAX_WRITE_BYTES) {
      return refused(
        413,
        `${path} has ${stats.size} bytes, more than the ${MAX_WRITE_BYTES} that can be edited.`,
      );
    }
    const bytes = await readFile(realPath);
    // Writing it back as UTF-8 would change bytes outside of the edit.
    if (!isUtf8(bytes))
      return refused(400, `${path} is not UTF-8 text; change it with a command.`, { field: "path" });
    return done(bytes.toString("utf8"));
  } catch (error) {
    return fileRefusal(error, path);
  }
}

async function writeAll(files: EditedFile[]): Promise<Outcome<undefined>> {
  const staged: { path: string; file: StagedFile }[] = [];
  for (const { target, text } of files) {
    const outcome = await stageFile(target.realPath, text);
    if (outcome.kind === "refused") {
      for (const { file } of staged) await file.discard();
      return nothingWritten(outcome);
    }
    staged.push({ path: target.path, file: outcome.value });
  }
  for (const [index, { file }] of staged.entries()) {
    const outcome = await file.commit();
    if (outcome.kind === "done") continue;
    for (const rest of staged.slice(index + 1)) await rest.file.discard();
    const changed = staged.slice(0, index).map(({ path }) => path);
    if (changed.length === 0) return nothingWritten(outcome);
    return { ...outcome, status: 500, message: `${outcome.message} Already changed: ${changed.join(", ")}.` };
  }
  return done(undefined);
}

/** Refusals below 500 imply that nothing was written; a failure must say so. */
function nothingWritten(refusal: Refusal): Refusal {
  if (refusal.status < 500) return refusal;
  return { ...refusal, message: `${refusal.message} Nothing was written.` };
}

/** Sequential: a request may name many files, and file descriptors are limited. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** All values, or one refusal with the messages of all refusals and the highest status. */
function combine<Value>(outcomes: readonly Outcome<Value>[]): Outcome<Value[]> {
  const values: Value[] = [];
  const refusals: Refusal[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind === "done") values.push(outcome.value);
    else refusals.push(outcome);
  }
  const [first] = refusals;
  if (first === undefined) return done(values);
  if (refusals.length === 1) return first;
  const status = Math.max(...refusals.map((refusal) => refusal.status));
  return refused(status, refusals.map(({ message }) => message).join("\n"), { field: first.field });
}
