/**
 * Work that must not overlap. While nothing has to be waited for, it is done at once, in the caller's own call; as
 * soon as something must be, all later work waits its turn.
 */

export type Work = () => void | Promise<void>;

export class OneByOne {
  readonly #waiting: Work[] = [];
  #isWorking = false;
  readonly #failed: (error: unknown) => void;

  /** `failed` hears of every piece of work that threw; the next one is done all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** How much waits: the caller keeps its bound. */
  get waiting(): number {
    return this.#waiting.length;
  }

  do(work: Work): void {
    if (this.#isWorking) {
      this.#waiting.push(work);
      return;
    }
    this.#isWorking = true;
    this.#run(work);
  }

  #run(first: Work | undefined): void {
    for (let work = first; work; work = this.#waiting.shift()) {
      try {
        const later = work();
        if (later) {
          void later.catch(this.#failed).then(() => this.#run(this.#waiting.shift()));
          return;
        }
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isWorking = false;
  }
}
