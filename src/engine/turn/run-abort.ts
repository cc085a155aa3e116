/** Why a run stopped, as data: the reason of the abort signal that everything in a turn listens to. */
export type StopReason =
  /** A person asked; what there is so far is kept. */
  | { kind: "interrupt" }
  /** This process ends; the step is dropped and run again by the next worker. */
  | { kind: "shutdown" }
  /** Somebody else holds the chat: nothing of this run may be saved, and what it has started is theirs to find. */
  | { kind: "ownership-lost" }
  /** What this run answers was edited away: nothing of it may be saved, and what it has started is to end. */
  | { kind: "history-rewritten" };

/** Aborts once, with a reason; a later reason wins only when it makes the earlier one pointless. */
export class RunAbortController {
  #controller = new AbortController();
  #reason: StopReason | null = null;
  /** A shutdown that came while an interrupt was being dealt with. */
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

  /** This process ends, perhaps once an interrupt has been dealt with. */
  get isShuttingDown(): boolean {
    return this.#reason?.kind === "shutdown" || this.#next !== null;
  }

  stop(reason: StopReason): void {
    if (this.#reason === null || isLoss(reason)) this.#reason = reason;
    else if (reason.kind === "shutdown") this.#next = reason;
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** The interrupt has been dealt with: listeners get a fresh signal, aborted again if a shutdown came meanwhile. */
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
