/**
 * Follows the output of a command in a workspace while it runs. A preview only: an error costs a part of it and never
 * fails the caller, which reads the command's whole output when it has ended.
 */
import { AGENT_PATHS } from "../../agent/protocol/paths.js";
import { processStreamLineSchema, STREAM_HEARTBEAT_MS } from "../../agent/protocol/process-stream.js";
import { systemClock } from "../../lib/clock.js";
import { headersOf, sendToAgent, type AgentAddress } from "./agent-request.js";

/** Two heartbeats may be late on a busy machine; after that the connection counts as lost. */
const SILENCE_MS = 3 * STREAM_HEARTBEAT_MS;
/** More than 64 KiB of output as JSON with every byte escaped. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

export type FollowRequest = {
  id: string;
  /** Offset in the output to start at. */
  from: number;
  /** Stops following. */
  signal: AbortSignal;
  /** `missedBytes` of output were lost just before `text`. Must not throw. */
  onOutput(text: string, missedBytes: number): void;
};

/** `isOver`: the command has ended, or there is nothing to follow. Otherwise the stream broke: resume at `nextOffset`. */
export type FollowEnd = { isOver: boolean; nextOffset: number };

/** Follows one stream until it ends, breaks, or the signal is aborted, which counts as over. Never rejects. */
export async function followOutput(address: AgentAddress, request: FollowRequest): Promise<FollowEnd> {
  const follower = new Follower(address, request);
  const isOver = await follower.follow();
  return { isOver, nextOffset: follower.nextOffset };
}

class Follower {
  nextOffset: number;

  constructor(
    private readonly address: AgentAddress,
    private readonly request: FollowRequest,
  ) {
    this.nextOffset = request.from;
  }

  /** Resolves to whether it is over. */
  async follow(): Promise<boolean> {
    const silence = new AbortController();
    const clock = this.address.clock ?? systemClock;
    let cancel = clock.after(SILENCE_MS, () => silence.abort());
    const onBytes = () => {
      cancel();
      cancel = clock.after(SILENCE_MS, () => silence.abort());
    };
    try {
      const path = `${AGENT_PATHS.processStream(this.request.id)}?from=${this.nextOffset}`;
      const response = await sendToAgent(this.address, path, {
        headers: headersOf(this.address, false),
        signal: AbortSignal.any([this.request.signal, silence.signal]),
      });
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        return response.status < 500;
      }
      return await this.#read(response.body, onBytes);
    } catch {
      // Broken, silent, or a protocol error: the caller reads the whole output at the end anyway.
      return this.request.signal.aborted;
    } finally {
      cancel();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, onBytes: () => void): Promise<boolean> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      onBytes();
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE_CHARACTERS) return false;
      if (lines.some((line) => this.#take(line))) return true;
    }
    return false;
  }

  /** Whether it was the last line. */
  #take(text: string): boolean {
    if (this.request.signal.aborted) return true;
    const line = processStreamLineSchema.parse(JSON.parse(text));
    switch (line.type) {
      case "alive":
        return false;
      case "end":
        return true;
      case "output": {
        const missedBytes = Math.max(0, line.offset - this.nextOffset);
        this.nextOffset = line.nextOffset;
        this.request.onOutput(line.text, missedBytes);
        return false;
      }
    }
  }
}
