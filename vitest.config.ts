import { createRequire } from "node:module";
import { defineConfig } from "vitest/config";

const require = createRequire(import.meta.url);

/** Tests that read source files and need neither a database nor a built program. */
const WITHOUT_SET_UP = ["test/architecture.test.ts", "test/docs.test.ts", "test/language.test.ts"];

export default defineConfig({
  resolve: {
    // graphql must be one copy: without this vite loads its .mjs build while node_modules load the CommonJS one.
    alias: [{ find: /^graphql$/, replacement: require.resolve("graphql") }],
  },
  test: {
    // For a machine that has other things to do: nothing here waits for them to end.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 50_000 } },
    // One worker's files share their modules: loading them again for each file took half of all the time. A file must
    // leave nothing behind in a module or in the process; the set-up file fails it when something stays open.
    isolate: false,
    setupFiles: ["test/support/leaks/check-leaks.ts"],
    // Many tests wait for clocks and processes: more of them than cores, so that the cores do not wait, too.
    maxWorkers: 4,
    projects: [
      // Pure code, tested beside it: no database, no program, no process.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", ...WITHOUT_SET_UP] } },
      // Everything else, against real parts.
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: WITHOUT_SET_UP,
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
    ],
  },
});
