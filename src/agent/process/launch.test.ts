import { expect, test } from "vitest";
import { preludeScript } from "./launch.js";

test.each([
  [{ oomScore: undefined, nice: 0 }, 'exec sh -c -- "$0" 2>&1'],
  [
    { oomScore: 500, nice: 0 },
    '{ echo 500 > /proc/self/oom_score_adj; } 2> /dev/null; exec sh -c -- "$0" 2>&1',
  ],
  [
    { oomScore: undefined, nice: 19 },
    'command -v nice > /dev/null && exec nice -n 19 sh -c -- "$0" 2>&1; exec sh -c -- "$0" 2>&1',
  ],
])("with the priority %j a command is preceded by %s", (priority, script) => {
  expect(preludeScript(priority)).toBe(script);
});
