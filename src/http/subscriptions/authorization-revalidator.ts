/**
 * Who watches over the rights of an open socket or stream asks at intervals; when somebody's rights have changed, all
 * are asked at once, a few at a time: a deployment may hold thousands of them.
 */
const AT_ONE_TIME = 16;

/** Never rejects. */
export type RightsCheck = () => Promise<void>;

export class RightsRounds {
  /** With what each has shown. */
  readonly #checks = new Map<RightsCheck, string>();

  /** The returned function takes the check out. */
  add(shown: string, check: RightsCheck): () => void {
    this.#checks.set(check, shown);
    return () => void this.#checks.delete(check);
  }

  /** Resolves when every check has run that is there now; only those of `shown`, when that is given. */
  async checkAll(shown?: string): Promise<void> {
    const wanted = [...this.#checks].filter(([, own]) => shown === undefined || own === shown);
    const rest = wanted.values();
    const work = async () => {
      for (const [check] of rest) await check();
    };
    await Promise.all(Array.from({ length: AT_ONE_TIME }, work));
  }
}
