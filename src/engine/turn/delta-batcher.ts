/**
 * Pieces on their way to subscribers, coalesced by time: the first goes out at once, later ones at most once each
 * interval (see pace.ts), with deltas of one part joined. Numbers them within their generation.
 */
import type { LiveDelta, MessageDelta } from "../../domain/chats/chat-events.js";
import type { MessageRole } from "../../domain/chats/message-parts.js";
import type { PartDelta } from "./accumulate.js";
import type { TurnPorts } from "./ports.js";

export class DeltaBatcher {
  #pending: PartDelta[] = [];
  #sequence = 0;
  #lastFlushAt = -Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(
    private readonly role: MessageRole,
    private readonly ports: TurnPorts,
  ) {}

  write(placed: PartDelta): void {
    const last = this.#pending.at(-1);
    const joined = last && last.partIndex === placed.partIndex ? join(last.delta, placed.delta) : null;
    if (joined) this.#pending[this.#pending.length - 1] = { partIndex: placed.partIndex, delta: joined };
    else this.#pending.push(placed);
    if (this.#cancelTimer) return;
    const { clock, deltaIntervalMs } = this.ports;
    const wait = this.#lastFlushAt + deltaIntervalMs() - clock.now();
    if (wait <= 0) this.flush();
    else this.#cancelTimer = clock.after(wait, () => this.flush());
  }

  /** Sends what waits, now. Call it last, before the message that the deltas become is committed. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#pending.length === 0) return;
    const deltas: LiveDelta[] = this.#pending.map((placed) => ({
      sequence: (this.#sequence += 1),
      role: this.role,
      ...placed,
    }));
    this.#pending = [];
    this.#lastFlushAt = this.ports.clock.now();
    this.ports.publish(deltas);
  }
}

/** Two deltas of the same kind as one, or null when they cannot be joined. */
function join(a: MessageDelta, b: MessageDelta): MessageDelta | null {
  if (!("append" in a) || !("append" in b) || a.type !== b.type) return null;
  return { ...a, append: a.append + b.append };
}
