// Redis server of one test, which can be killed: the installed `redis-server`, on a free port.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.js";
import { has } from "../requirements.js";

export type TestRedis = {
  url: string;
  /** Kills it, as a power failure does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Tests that need one are skipped without it. */
export const hasRedis = has("redis");

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  let child = await launch(port);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    restart: async () => {
      await kill();
      child = await launch(port);
    },
    stop: kill,
  };
}

async function launch(port: number): Promise<ChildProcess> {
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn("redis-server", [...settings, "--dir", tmpdir()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.includes("Ready to accept connections")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`redis-server ended at once (exit code ${code}).`)));
    child.once("error", reject);
  });
  return child;
}
