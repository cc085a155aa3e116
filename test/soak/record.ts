// What a person did to a chat and what was answered: the end of the soak is held against it.

/** `done` and `refused` were answered by a server; of `unknown` the answer was lost, so it may have happened or not. */
export type Outcome = "done" | "refused" | "unknown";

export type Entry = {
  command: string;
  /** Counts all commands of the soak: an entry with a greater `begun` than another's `ended` came after it. */
  begun: number;
  ended: number;
  outcome: Outcome;
  /** What was said, for commands that say something. */
  text?: string;
  /** Where it went, or what was taken out of the queue. */
  queuedId?: string | null;
  /** It was said to have entered history, so no queue can have lost it. */
  isInHistory?: boolean;
  codes?: string[];
};

let moments = 0;

export class ChatRecord {
  readonly entries: Entry[] = [];
  chatId = "";
  /** Requests with an idempotency key that were done. */
  keys = 0;

  constructor(readonly number: number) {}

  begin(command: string, more: Pick<Entry, "text" | "queuedId"> = {}): Entry {
    moments += 1;
    const entry: Entry = { command, begun: moments, ended: Infinity, outcome: "unknown", ...more };
    this.entries.push(entry);
    return entry;
  }

  end(entry: Entry, outcome: Outcome, more: Pick<Entry, "queuedId" | "isInHistory" | "codes"> = {}): void {
    moments += 1;
    Object.assign(entry, { outcome, ended: moments, ...more });
  }

  of(command: string, ...outcomes: Outcome[]): Entry[] {
    return this.entries.filter((entry) => entry.command === command && outcomes.includes(entry.outcome));
  }
}
