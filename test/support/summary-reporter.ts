// Ends a test run with one plain line, "N passed, N failed", for programs that read the output.
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from "vitest/node";
import { missingRequirements } from "./requirements.js";

export default class SummaryReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    let passed = 0;
    let skipped = 0;
    // A file that cannot be loaded and an error outside any test fail the run as well.
    let failed = unhandledErrors.length;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        if (state === "failed") failed += 1;
        if (state === "skipped") skipped += 1;
      }
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
    }
    // No test at all, or a set-up that failed.
    if (failed === 0 && (reason !== "passed" || modules.length === 0)) failed = 1;
    const missing = missingRequirements();
    if (skipped > 0 && missing.length > 0) {
      process.stdout.write(
        `\n${skipped} skipped. What this machine lacks for them:\n${missing.join("\n")}\n`,
      );
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  }
}
