/** Parsing and formatting of durations: "30s", "5m", "500ms", "1h30m". Pure. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const COMPONENT = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/** What `parseDuration` accepts, for messages and descriptions. */
export const DURATION_FORMAT = 'a number with a unit, such as "500ms", "30s", "5m" or "1h30m"';

/** Milliseconds, or undefined for anything but numbers with units ("0" alone needs none). */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "0") return 0;
  if (!DURATION.test(trimmed)) return undefined;
  let totalMs = 0;
  for (const [, amount = "", unit = ""] of trimmed.matchAll(COMPONENT))
    totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
  return totalMs;
}

/** The shortest exact form: 90 000 becomes "1m30s". */
export function formatDuration(durationMs: number): string {
  let restMs = Math.round(durationMs);
  const components: string[] = [];
  for (const unit of ["h", "m", "s", "ms"]) {
    const unitMs = UNIT_MS[unit] ?? 1;
    const amount = Math.floor(restMs / unitMs);
    restMs -= amount * unitMs;
    if (amount > 0) components.push(`${amount}${unit}`);
  }
  return components.length === 0 ? "0s" : components.join("");
}
