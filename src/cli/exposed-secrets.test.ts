import { expect, test } from "vitest";
import { findExposures, readShownProcess, type ShownProcess } from "./exposed-secrets.js";

const SECRETS = { DATABASE_URL: "postgres://secret", OPENAI_API_KEY: "sk-1" };

const shown = (parentId: number, name: string, ...environment: string[]): ShownProcess => ({
  parentId,
  name,
  environment: `${environment.join("\0")}\0`,
});

test.each<[what: string, processes: Record<number, ShownProcess>, exposures: unknown[]]>([
  ["no parent at all", {}, []],
  ["a parent with other variables", { 9: shown(1, "sh", "PATH=/bin", "OPENAI_API_KEY=sk-2") }, []],
  [
    "npm, and the shell that started it without them",
    { 9: shown(5, "npm start", "OPENAI_API_KEY=sk-1", "PATH=/bin"), 5: shown(1, "bash", "PATH=/bin") },
    [{ ancestorId: 9, program: "npm start", variables: ["OPENAI_API_KEY"] }],
  ],
  [
    "a script behind a program of another user",
    {
      9: shown(5, "sudo", ""),
      5: shown(0, "init", "DATABASE_URL=postgres://secret", "OPENAI_API_KEY=sk-1"),
    },
    [{ ancestorId: 5, program: "init", variables: ["DATABASE_URL", "OPENAI_API_KEY"] }],
  ],
  ["a circle, which ends", { 9: shown(9, "odd") }, []],
])("%s", (_what, processes, exposures) => {
  expect(findExposures(9, SECRETS, (pid) => processes[pid])).toEqual(exposures);
});

test.skipIf(process.platform !== "linux")("this process is read with its parent", () => {
  expect(readShownProcess(process.pid)).toMatchObject({ parentId: process.ppid });
  expect(readShownProcess(2 ** 30)).toBeUndefined();
});
