// A user's commands on a chat and their responses, with which the chat's final state is compared.

/** `done` and `refused` are responses of a server; `unknown`: the response was lost, so it may have happened or not. */
export type Outcome = "done" | "refused" | "unknown";

export type Entry = {
  command: string;
  /** Logical time of the whole soak: an entry whose `begun` is greater than another's `ended` came after it. */
  begun: number;
  ended: number;
  outcome: Outcome;
  /** Text of the message, for commands that send one. */
  text?: string;
  /** The queued message that was created or deleted. */
  queuedId?: string | null;
  /** The response showed it in history, so that it cannot have been removed from the queue. */
  isInHistory?: boolean;
  codes?: string[];
};

let logicalTime = 0;

export class ChatRecord {
  readonly entries: Entry[] = [];
  chatId = "";
  /** Successful requests with an idempotency key. */
  keys = 0;

  constructor(readonly number: number) {}

  begin(command: string, more: Pick<Entry, "text" | "queuedId"> = {}): Entry {
    logicalTime += 1;
    const entry: Entry = { command, begun: logicalTime, ended: Infinity, outcome: "unknown", ...more };
    this.entries.push(entry);
    return entry;
  }

  end(entry: Entry, outcome: Outcome, more: Pick<Entry, "queuedId" | "isInHistory" | "codes"> = {}): void {
    logicalTime += 1;
    Object.assign(entry, { outcome, ended: logicalTime, ...more });
  }

  of(command: string, ...outcomes: Outcome[]): Entry[] {
    return this.entries.filter((entry) => entry.command === command && outcomes.includes(entry.outcome));
  }
}
