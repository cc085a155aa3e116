// Polls for a condition that no event announces.
import { vi } from "vitest";

/**
 * Longer than any machine is busy with something else, and shorter than a test may take. Vitest's own second would be a
 * timing assertion in disguise.
 */
const PATIENCE = { timeout: 50_000, interval: 20 };

/** Repeats the check until it passes; rejects with its last failure. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, PATIENCE);
}
