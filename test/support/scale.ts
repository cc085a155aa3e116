// Scale of the heaviest tests: a tenth in `npm test`, in full in `npm run test:weights`.
const IS_FULL = process.env["PARLEY_TEST_SCALE"] === "full";

/** `full` in `npm run test:weights`, else a tenth of it, rounded up. */
export function scaled(full: number): number {
  return IS_FULL ? full : Math.ceil(full / 10);
}
