/**
 * Follows what a command in a workspace says while it runs. A preview only: whatever goes wrong on the way costs some
 * of it and is never the caller's failure, since the command's output is asked for when it has ended.
 */
import { AGENT_PATHS } from "../../agent/protocol/paths.js";
import { processStreamLineSchema, STREAM_HEARTBEAT_MS } from "../../agent/protocol/process-stream.js";
import { systemClock } from "../../lib/clock.js";
import { headersOf, sendToAgent, type AgentAddress } from "./agent-request.js";

/** Two heartbeats may be late, on a busy machine; after that the agent is gone or the way to it is. */
const SILENCE_MS = 3 * STREAM_HEARTBEAT_MS;
/** What 64 KiB of output become as JSON when every byte of it must be escaped, and some. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

export type FollowRequest = {
  id: string;
  /** Bytes that were heard before. */
  from: number;
  /** Ends the following. */
  signal: AbortSignal;
  /** `missedBytes` of output between what was heard before and `text` are lost. Must not throw. */
  heard(text: string, missedBytes: number): void;
};

/** `isOver`: the command has ended, or there is nothing to follow. Otherwise the stream broke: go on at `heardBytes`. */
export type FollowEnd = { isOver: boolean; heardBytes: number };

/** One stream, until it ends, breaks, or the signal is aborted, which is an end too. Never rejects. */
export async function followOutput(address: AgentAddress, request: FollowRequest): Promise<FollowEnd> {
  const follower = new Follower(address, request);
  const isOver = await follower.listen();
  return { isOver, heardBytes: follower.heardBytes };
}

class Follower {
  heardBytes: number;

  constructor(
    private readonly address: AgentAddress,
    private readonly request: FollowRequest,
  ) {
    this.heardBytes = request.from;
  }

  /** Whether it is over. */
  async listen(): Promise<boolean> {
    const silence = new AbortController();
    const clock = this.address.clock ?? systemClock;
    let cancel = clock.after(SILENCE_MS, () => silence.abort());
    const heard = () => {
      cancel();
      cancel = clock.after(SILENCE_MS, () => silence.abort());
    };
    try {
      const path = `${AGENT_PATHS.processStream(this.request.id)}?from=${this.heardBytes}`;
      const response = await sendToAgent(this.address, path, {
        headers: headersOf(this.address, false),
        signal: AbortSignal.any([this.request.signal, silence.signal]),
      });
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        return response.status < 500;
      }
      return await this.#read(response.body, heard);
    } catch {
      // Cut, silent, or not in the protocol: the output is asked for at the end all the same.
      return this.request.signal.aborted;
    } finally {
      cancel();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, heard: () => void): Promise<boolean> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      heard();
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
        const missedBytes = Math.max(0, line.offset - this.heardBytes);
        this.heardBytes = line.nextOffset;
        this.request.heard(line.text, missedBytes);
        return false;
      }
    }
  }
}
