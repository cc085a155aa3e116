/** Asking an engine for something, and what its refusals mean. */
import { errorText } from "../../lib/text/error-text.js";
import { ProvisionerError } from "./provisioner.js";

export type Engine = {
  /** Begins a sentence. */
  name: string;
  /** Statuses with which it will refuse again. */
  lasting: ReadonlySet<number>;
  /** Of what its client throws; null = it did not answer. */
  statusOf(error: unknown): number | null;
  /** Why it refused. */
  wordsOf(error: unknown, status: number): string;
};

/** Questions to one engine. */
export function askingOf(engine: Engine) {
  /** What it answers; null for answers in `expected`. Rejects with a `ProvisionerError` for all others. */
  async function asking<T>(what: string, ask: () => Promise<T>): Promise<T>;
  async function asking<T>(
    what: string,
    ask: () => Promise<T>,
    expected: readonly number[],
  ): Promise<T | null>;
  async function asking<T>(
    what: string,
    ask: () => Promise<T>,
    expected: readonly number[] = [],
  ): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      const status = engine.statusOf(error);
      if (status !== null && expected.includes(status)) return null;
      throw refusalOf(engine, { what, error, status });
    }
  }
  return asking;
}

function refusalOf(
  { name, lasting, wordsOf }: Engine,
  { what, error, status }: { what: string; error: unknown; status: number | null },
): ProvisionerError {
  const reason =
    status === null
      ? `${name} could not ${what}: ${errorText(error)}.`
      : `${name} refused to ${what}: ${wordsOf(error, status)}`;
  return new ProvisionerError(reason, { isLasting: status !== null && lasting.has(status), cause: error });
}
