// Which operating-system account runs PostgreSQL, and how a short program is run as it.
// PostgreSQL refuses to run as root, so a server started by root lends it the account `nobody`
// (or the account that already owns the data). Without root, everything runs as ourselves.
import { chown } from "node:fs/promises";
import { runProgram } from "../../lib/child-process.js";

/** Numeric user and group of the account that PostgreSQL runs as; undefined means our own. */
export type Account = { uid: number; gid: number } | undefined;

/** Nothing of the server's own environment (API keys!) reaches programs of another account. */
export const PROGRAM_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };

/** Short programs (initdb, probes) that take longer than this are killed; initdb needs about 1 s. */
const PROGRAM_LIMIT_MS = 60_000;

/** The account for a new cluster. Throws when we are root and the system has no account `nobody`. */
export async function accountForNewCluster(): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const [uid, gid] = await Promise.all([
      runProgram("id", ["-u", "nobody"], { env: PROGRAM_ENVIRONMENT }),
      runProgram("id", ["-g", "nobody"], { env: PROGRAM_ENVIRONMENT }),
    ]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch (cause) {
    throw new Error(
      "The embedded PostgreSQL cannot run as root and this system has no account `nobody`: " +
        "run Parley as an ordinary user, or set DATABASE_URL.",
      { cause },
    );
  }
}

/** Runs a short program as the account and gives its standard output. Rejects when it fails. */
export async function runAs(account: Account, program: string, programArguments: string[]): Promise<string> {
  const { stdout } = await runProgram(program, programArguments, {
    ...account,
    cwd: "/",
    env: PROGRAM_ENVIRONMENT,
    timeout: PROGRAM_LIMIT_MS,
  });
  return stdout;
}

/** Gives a folder to the account; does nothing when that is ourselves. */
export async function giveTo(account: Account, folder: string): Promise<void> {
  if (account) await chown(folder, account.uid, account.gid);
}

/** Whether the account may enter and write the folder, found out by trying. */
export async function canUse(account: Account, folder: string): Promise<boolean> {
  try {
    await runAs(account, "/bin/sh", ["-c", 'test -x "$0" && test -w "$0"', folder]);
    return true;
  } catch {
    return false;
  }
}

/** What a failed program said, for the end of an error message. */
export function complaintOf(failure: unknown): string {
  if (failure instanceof Error && "stderr" in failure && String(failure.stderr).trim() !== "") {
    return String(failure.stderr).trim().slice(-COMPLAINT_LIMIT_CHARACTERS);
  }
  return failure instanceof Error ? failure.message : String(failure);
}

/** Enough for PostgreSQL's longest start-up complaint with its hint. */
const COMPLAINT_LIMIT_CHARACTERS = 2000;
