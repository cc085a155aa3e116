// Waiting for something that nothing tells of.
import { vi } from "vitest";

/**
 * Longer than any machine is busy with something else, and shorter than a test may take. Vitest's own second would be a
 * timing assertion in disguise.
 */
const PATIENCE = { timeout: 50_000, interval: 20 };

/** Checks again and again until the check passes; rejects with its last failure. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, PATIENCE);
}
