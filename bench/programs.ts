/** Starts and ends the bench's other processes. None outlives the bench, even if that is killed. */
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { FromProgram, ToProgram } from "./child-program.js";

/** Compiling the sources and opening a database take seconds on a busy machine. */
const START_LIMIT_MS = 60_000;
/** A server that drains takes a few seconds; then it is killed. */
const STOP_LIMIT_MS = 20_000;

/** The compiled server of this checkout. */
export const SERVER = join(import.meta.dirname, "..", "dist", "bin", "server.js");
/** The server does not know the bench, so a wrapper ends it when the bench is gone. */
const END_WITH_PARENT = `data:text/javascript,process.on("disconnect",()=>process.kill(process.pid,"SIGTERM"))`;

export type Program = {
  url: string;
  processId: number;
  /** What the program answers; undefined for the server itself. */
  ask(): Promise<unknown>;
  /** Resolves, when it is gone, with its last answer; also the second time. */
  stop(): Promise<unknown>;
};

/** Starts `bench/<name>.ts`. Rejects when it ends instead of becoming ready. */
export async function startBenchProgram(
  name: string,
  settings: unknown,
  nodeOptions: string[] = [],
): Promise<Program> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), [], {
    execArgv: [...process.execArgv, ...nodeOptions],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const died = death(child);
  const exchange = async (message: ToProgram): Promise<FromProgram> => {
    const answered = new Promise<FromProgram>((resolve) => child.once("message", resolve as () => void));
    child.send(message);
    return within(START_LIMIT_MS, `bench/${name}.ts did not answer`, Promise.race([answered, died]));
  };
  const stop = async () => {
    try {
      return valueOf(await exchange({ type: "stop" }));
    } finally {
      // Also when it did not answer: as long as it lives, so does the bench.
      await end(child, () => child.kill("SIGTERM"));
    }
  };
  let stopped: Promise<unknown> | undefined;
  const ready = await exchange({ type: "start", settings });
  return {
    url: ready.type === "ready" ? ready.url : "",
    processId: child.pid ?? 0,
    ask: async () => valueOf(await exchange({ type: "question" })),
    stop: () => (stopped ??= stop()),
  };
}

function valueOf(message: FromProgram): unknown {
  return message.type === "ready" ? undefined : message.value;
}

/**
 * Starts the built server, `parley serve`, with this environment and nothing else of Parley's; `program` is that of
 * another checkout.
 */
export async function startServer(
  environment: Record<string, string>,
  cwd: string,
  nodeOptions: string[] = [],
  program: string = SERVER,
): Promise<Program> {
  const child = fork(program, ["serve"], {
    execArgv: ["--import", END_WITH_PARENT, ...nodeOptions],
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, NODE_ENV: "production", ...environment },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const listening = new Promise<string>((resolve) => {
    let output = "";
    child.stdout?.on("data", (text: Buffer) => {
      output += text.toString();
      const url = /Parley listens on (http:\S+)\/graphql/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await within(START_LIMIT_MS, "Parley did not start", Promise.race([listening, death(child)]));
  return {
    url,
    processId: child.pid ?? 0,
    ask: () => Promise.resolve(undefined),
    stop: () => end(child, () => child.kill("SIGTERM")),
  };
}

/** Rejects when the process ends, so that other waits can fail with it. */
function death(child: ChildProcess): Promise<never> {
  const died = new Promise<never>((_resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      reject(new Error(`${child.spawnargs.join(" ")} ended with ${signal ?? code}`));
    });
  });
  // A requested end is no failure.
  died.catch(() => undefined);
  return died;
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  ask();
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await gone;
  clearTimeout(force);
}

/** Rejects with `complaint` when `work` takes longer than `limitMs`. */
export async function within<T>(limitMs: number, complaint: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
