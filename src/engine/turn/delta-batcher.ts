/**
 * Batches deltas for subscribers: the first is published at once, later ones at most once per interval (see
 * adaptive-throttle.ts), with deltas of one part joined. Numbers them within their generation.
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

  write(partDelta: PartDelta): void {
    const last = this.#pending.at(-1);
    const joined = last && last.partIndex === partDelta.partIndex ? join(last.delta, partDelta.delta) : null;
    if (joined) this.#pending[this.#pending.length - 1] = { ...partDelta, delta: joined };
    else this.#pending.push(partDelta);
    if (this.#cancelTimer) return;
    const { clock, deltaIntervalMs } = this.ports;
    const wait = this.#lastFlushAt + deltaIntervalMs() - clock.now();
    if (wait <= 0) this.flush();
    else this.#cancelTimer = clock.after(wait, () => this.flush());
  }

  /** Publishes pending deltas now. Must be called before the message is committed. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#pending.length === 0) return;
    const deltas: LiveDelta[] = this.#pending.map((partDelta) => ({
      sequence: (this.#sequence += 1),
      role: this.role,
      ...partDelta,
    }));
    this.#pending = [];
    this.#lastFlushAt = this.ports.clock.now();
    this.ports.publish(deltas);
  }
}

/** Null when the two cannot be joined. */
function join(a: MessageDelta, b: MessageDelta): MessageDelta | null {
  if (!("append" in a) || !("append" in b) || a.type !== b.type) return null;
  return { ...a, append: a.append + b.append };
}
