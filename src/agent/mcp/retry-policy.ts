/** When a tool server that failed is tried again. Pure. */

const FIRST_DELAY_MS = 5_000;
/** Somebody may repair it by hand at any time; a refresh does not wait. */
const LONGEST_DELAY_MS = 5 * 60_000;

/** A server that has been ready and ends soon is restarted so often at once; then its ends count as failures. */
export const FREE_RESTARTS = 3;

/** After so many failures in a row: none at first, then 5 s, twice as long each time, 5 minutes at most. */
export function retryDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
}
