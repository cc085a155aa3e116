/** Requests to a container engine; its refusals become `ProvisionerError`s. */
import { errorText } from "../../lib/text/error-text.js";
import { ProvisionerError } from "./provisioner.js";

export type Engine = {
  /** Starts a sentence, such as "The cluster". */
  name: string;
  /** Statuses of refusals that a retry would not change. */
  permanent: ReadonlySet<number>;
  /** The HTTP status of an error of the engine's client; null = the engine did not answer. */
  statusOf(error: unknown): number | null;
  /** Why the engine refused. */
  reasonOf(error: unknown, status: number): string;
};

/** A function that sends requests to one engine. */
export function requestsTo(engine: Engine) {
  /** Resolves as `send`; to null for statuses in `expected`. Rejects with a `ProvisionerError` for all others. */
  async function request<T>(what: string, send: () => Promise<T>): Promise<T>;
  async function request<T>(
    what: string,
    send: () => Promise<T>,
    expected: readonly number[],
  ): Promise<T | null>;
  async function request<T>(
    what: string,
    send: () => Promise<T>,
    expected: readonly number[] = [],
  ): Promise<T | null> {
    try {
      return await send();
    } catch (error) {
      const status = engine.statusOf(error);
      if (status !== null && expected.includes(status)) return null;
      throw provisionerErrorOf(engine, { what, error, status });
    }
  }
  return request;
}

function provisionerErrorOf(
  { name, permanent, reasonOf }: Engine,
  { what, error, status }: { what: string; error: unknown; status: number | null },
): ProvisionerError {
  const reason =
    status === null
      ? `${name} could not ${what}: ${errorText(error)}.`
      : `${name} refused to ${what}: ${reasonOf(error, status)}`;
  const isPermanent = status !== null && permanent.has(status);
  return new ProvisionerError(reason, { isPermanent, cause: error });
}
