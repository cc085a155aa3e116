/**
 * Revalidates the authorization of all open WebSockets and event streams when a user's permissions have changed, ahead
 * of the interval at which each is revalidated anyway. A server may have thousands of them, so few checks run at once.
 */
const MAX_CONCURRENT_CHECKS = 16;

/** Never rejects. */
export type AuthorizationCheck = () => Promise<void>;

export class AuthorizationRevalidator {
  /** The checks, with the credential of each connection. */
  readonly #checks = new Map<AuthorizationCheck, string>();

  /** Registers a check; the returned function removes it. */
  add(credential: string, check: AuthorizationCheck): () => void {
    this.#checks.set(check, credential);
    return () => void this.#checks.delete(check);
  }

  /** Runs the checks registered now, or only those of one credential. Resolves when all have run. */
  async checkAll(credential?: string): Promise<void> {
    const selected = [...this.#checks].filter(([, own]) => credential === undefined || own === credential);
    const remaining = selected.values();
    const work = async () => {
      for (const [check] of remaining) await check();
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_CHECKS }, work));
  }
}
