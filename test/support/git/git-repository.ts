// A small real git repository in a temporary folder, the same bytes (and commit ids) on every machine and day.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type GitRepository = {
  /** Absolute, without symbolic links. */
  folder: string;
  /** Runs git in the repository as the fixed author; resolves with its standard output. Rejects when git fails. */
  git(...gitArguments: string[]): Promise<string>;
  /** Writes a file, with its folders. */
  write(path: string, text: string): Promise<void>;
  remove(): Promise<void>;
};

const FILES: Record<string, string> = {
  "README.md": "# Greeter\n\nSays hello.\n",
  "package.json": `${JSON.stringify({ name: "greeter", version: "1.0.0", type: "module" }, undefined, 2)}\n`,
  "src/greet.js": "export function greet(name) {\n  return `Hello, ${name}!`;\n}\n",
  "src/main.js": 'import { greet } from "./greet.js";\n\nconsole.log(greet("world"));\n',
  ".gitignore": "node_modules/\n",
};

const DATE = "2026-01-02T03:04:05Z";

/** No setting of the machine or its user has a say, nor does an enclosing repository. */
function environmentFor(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: folder,
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ada Example",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_AUTHOR_DATE: DATE,
    GIT_COMMITTER_NAME: "Ada Example",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    GIT_COMMITTER_DATE: DATE,
  };
}

/** One commit on branch `main` and a clean tree. Remove it when done. */
export async function createGitRepository(files: Record<string, string> = FILES): Promise<GitRepository> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-repository-")));
  const env = environmentFor(folder);
  const repository: GitRepository = {
    folder,
    async git(...gitArguments) {
      const { stdout } = await run("git", gitArguments, { cwd: folder, env });
      return stdout;
    },
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  if (files === FILES && firstOfAll) {
    await writeAll(folder, firstOfAll);
    return repository;
  }
  for (const [path, text] of Object.entries(files)) await repository.write(path, text);
  // Without its examples of hooks.
  await repository.git("init", "--quiet", "--initial-branch=main", "--template=");
  await repository.git("add", "--all");
  await repository.git("commit", "--quiet", "--message=Begin");
  if (files === FILES) firstOfAll = await readAll(folder);
  return repository;
}

/** The files by their path, and folders without bytes. */
type Tree = Map<string, Buffer | null>;

/** The first repository of this process with the default files: later ones are copies, which take no processes. */
let firstOfAll: Tree | undefined;

async function readAll(folder: string): Promise<Tree> {
  const tree: Tree = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    tree.set(relative(folder, path), entry.isDirectory() ? null : await readFile(path));
  }
  return tree;
}

async function writeAll(folder: string, tree: Tree): Promise<void> {
  for (const [path, bytes] of tree) {
    if (bytes === null) await mkdir(join(folder, path), { recursive: true });
    else {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
  }
}
