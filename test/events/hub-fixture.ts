// A hub over one in-memory chat, with a clock and a bus that the test controls.
import type { StreamBounds } from "../../src/events/common/event-stream.js";
import { ChatHub } from "../../src/events/chats/chat-hub.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { PartLog } from "../../src/events/bus/part-log.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../agent/manual-clock.js";
import { follow, settle, Transcript } from "./transcript.js";
import { CHAT_ID, ChatWorld, viewer } from "./world.js";

export const opening = ["refresh first_snapshot", "caught-up"];

export class HubFixture {
  readonly clock = new ManualClock();
  readonly bus: MemoryBus;
  readonly world: ChatWorld;
  readonly hub: ChatHub;

  constructor(options: { streamBounds?: StreamBounds; maxGenerationBytes?: number } = {}) {
    const { streamBounds, maxGenerationBytes } = options;
    const { clock } = this;
    const log = createLog("silent");
    this.bus = new MemoryBus(log, new PartLog(maxGenerationBytes ? { maxGenerationBytes } : {}));
    this.world = new ChatWorld(this.bus);
    const dependencies = { source: this.world, bus: this.bus, clock, log };
    this.hub = new ChatHub(streamBounds ? { ...dependencies, streamBounds } : dependencies);
  }

  async open(after: string | null = null) {
    const stream = await this.hub.subscribe(viewer, CHAT_ID, after);
    if (!stream) throw new Error("chat not found");
    return stream;
  }

  /** A reader that takes all events immediately. */
  async read(after: string | null = null) {
    const stream = await this.open(after);
    const transcript = new Transcript(this.world, after);
    const result = follow(stream, transcript);
    await settle();
    const eventLog = async () => {
      await settle();
      if (result.failure) throw new Error("stream failed", { cause: result.failure });
      return transcript.eventLog;
    };
    return { stream, transcript, eventLog };
  }

  /** Commits an answer without ending the turn. */
  commitStep(text: string, options: { isPublished?: boolean } = {}): void {
    const messages = [this.world.answer(text)];
    this.world.run([{ type: "commit-step", fence: this.world.fence, messages, openCalls: [] }], options);
  }
}
