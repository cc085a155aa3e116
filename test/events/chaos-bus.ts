// Bus with unreliable delivery: drops, duplicates or delays about 30 % of messages.
import type { Generation, LiveBatch, SavedChange } from "../../src/domain/chats/chat-events.js";
import type { ConfigTopic } from "../../src/domain/common/config-topic.js";
import type { ListEntry, ListUpdate } from "../../src/domain/chats/list-events.js";
import type { Bus, ChatListener, LoggedList, LoggedDeltas } from "../../src/events/bus/bus.js";

/** Seeded random numbers in [0, 1) (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class ChaosBus implements Bus {
  isCalm = false;
  #late: (() => void)[] = [];

  constructor(
    private readonly inner: Bus,
    private readonly random: () => number,
  ) {}

  readonly isConnected = true;

  publishSaved(change: SavedChange): void {
    this.inner.publishSaved(change);
  }

  publishList(ownerId: string, update: ListUpdate): void {
    this.inner.publishList(ownerId, update);
  }

  publishLive(batch: LiveBatch): void {
    this.inner.publishLive(batch);
  }

  subscribeList(ownerId: string, listener: (entry: ListEntry) => void): Promise<() => void> {
    return this.inner.subscribeList(ownerId, (entry) => this.#deliver(() => listener(entry)));
  }

  readList(ownerId: string, after: string | null): Promise<LoggedList> {
    return this.inner.readList(ownerId, after);
  }

  subscribeChat(chatId: string, listener: ChatListener): Promise<() => void> {
    return this.inner.subscribeChat(chatId, {
      saved: (change) => this.#deliver(() => listener.saved(change)),
      live: (batch) => this.#deliver(() => listener.live(batch)),
    });
  }

  onReconnect(listener: () => void): () => void {
    return this.inner.onReconnect(listener);
  }

  wakeWorkers(): void {
    this.inner.wakeWorkers();
  }

  onWake(listener: () => void): () => void {
    return this.inner.onWake(listener);
  }

  publishConfigChange(topic: ConfigTopic): void {
    this.inner.publishConfigChange(topic);
  }

  onConfigChange(listener: (topic: ConfigTopic) => void): () => void {
    return this.inner.onConfigChange((topic) => this.#deliver(() => listener(topic)));
  }

  readDeltas(chatId: string, generation: Generation): Promise<LoggedDeltas | null> {
    return this.inner.readDeltas(chatId, generation);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  #deliver(call: () => void): void {
    const fate = this.isCalm ? 1 : this.random();
    const overdue = fate < 0.3 ? [] : this.#late.splice(0);
    if (fate < 0.1) return;
    if (fate < 0.2) this.#late.push(call);
    else call();
    if (fate >= 0.2 && fate < 0.3) call();
    for (const late of overdue) late();
  }
}
