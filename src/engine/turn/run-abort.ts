/** Abort controller of a run, whose reason says why it stopped. Everything in a turn listens to its signal. */
export type StopReason =
  /** A user stopped the turn; the partial step is persisted. */
  | { kind: "interrupt" }
  /** This process ends; the step is discarded and repeated by the next worker. */
  | { kind: "shutdown" }
  /** Another worker has the chat: nothing of this run may be saved, and it takes over the processes that this one started. */
  | { kind: "ownership-lost" }
  /** The message that this run answers was edited: nothing of the run may be saved, and its processes are ended. */
  | { kind: "history-rewritten" };

/** Aborts once, with a reason; a later reason replaces it only when that makes the earlier one irrelevant. */
export class RunAbortController {
  #controller = new AbortController();
  #reason: StopReason | null = null;
  /** A shutdown that came while an interrupt was being finished. */
  #next: StopReason | null = null;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): StopReason | null {
    return this.#reason;
  }

  /** Nothing of the run may be saved. */
  get isLost(): boolean {
    return this.#reason !== null && isLoss(this.#reason);
  }

  /** This process ends, perhaps once an interrupt has been finished. */
  get isShuttingDown(): boolean {
    return this.#reason?.kind === "shutdown" || this.#next !== null;
  }

  stop(reason: StopReason): void {
    if (this.#reason === null || isLoss(reason)) this.#reason = reason;
    else if (reason.kind === "shutdown") this.#next = reason;
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** Replaces the signal once an interrupt has been finished; aborts it again if a shutdown came meanwhile. */
  reset(): void {
    if (this.#reason?.kind !== "interrupt") return;
    this.#reason = null;
    this.#controller = new AbortController();
    if (this.#next) this.stop(this.#next);
  }
}

function isLoss({ kind }: StopReason): boolean {
  return kind === "ownership-lost" || kind === "history-rewritten";
}
