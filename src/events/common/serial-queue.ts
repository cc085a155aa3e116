/**
 * FIFO queue that runs one task at a time. A task runs synchronously inside `run` while the queue is idle; once a task
 * returns a promise, all later tasks wait for it.
 */

export type Task = () => void | Promise<void>;

export class SerialQueue {
  readonly #waiting: Task[] = [];
  #isRunning = false;
  readonly #failed: (error: unknown) => void;

  /** `failed` receives every error that a task throws or rejects with; the next task runs all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Tasks that wait. The queue is unbounded; the caller enforces a bound. */
  get waiting(): number {
    return this.#waiting.length;
  }

  run(task: Task): void {
    if (this.#isRunning) {
      this.#waiting.push(task);
      return;
    }
    this.#isRunning = true;
    this.#drain(task);
  }

  #drain(first: Task | undefined): void {
    for (let task = first; task; task = this.#waiting.shift()) {
      try {
        const pending = task();
        if (pending) {
          void pending.catch(this.#failed).then(() => this.#drain(this.#waiting.shift()));
          return;
        }
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isRunning = false;
  }
}
