/** Retry delays for failed MCP servers. Pure. */

const FIRST_DELAY_MS = 5_000;
/** A refresh retries at once, so a repair by hand need not wait. */
const LONGEST_DELAY_MS = 5 * 60_000;

/** Immediate restarts of a server that ends soon after it was ready; further ends count as failures. */
export const FREE_RESTARTS = 3;

/** Delay after `failures` in a row: 0 without any, then 5 s, doubling to at most 5 minutes. */
export function retryDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
}
