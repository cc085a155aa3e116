// Detects events that a client applied twice or out of order. Committed changes have a position in the chat's history,
// which only grows; deltas have sequence numbers within their preview.
import {
  compareGenerations,
  comparePositions,
  endOfVersion,
  type Generation,
  parseGenerationId,
} from "../../src/domain/chats/chat-events.js";
import { decodeEventCursor } from "../../src/domain/common/cursors.js";
import type { ChatEvent } from "../support/clients/transcript.js";

export class AppliedOnce {
  /** Number of new events. */
  applied = 0;
  /** Descriptions of repeated events. */
  readonly repeats: string[] = [];
  /** Position of the last committed change. */
  #position = endOfVersion(0);
  /** The newest generation, and the sequence number of its last delta. */
  #preview: { generation: Generation; sequence: number } = {
    generation: { historyVersion: 0, attempt: 0 },
    sequence: 0,
  };

  apply(event: ChatEvent): void {
    const position = decodeEventCursor(event.cursor)?.position;
    if (!position)
      return void this.repeats.push(`${event.__typename} has an invalid cursor: ${event.cursor}`);
    switch (event.__typename) {
      case "ChatPartEvent":
        return this.#applyDelta(event);
      case "ChatPreviewResetEvent":
        this.#preview.sequence = 0;
        return;
      case "ChatRefreshEvent":
        this.applied += 1;
        this.#preview.sequence = 0;
        this.#position = position;
        return;
      case "ChatCaughtUpEvent":
        this.#position = position;
        return;
      case "ChatMessageEvent":
      case "ChatStatusEvent":
      case "ChatErrorEvent":
      case "ChatQueueEvent":
      case "ChatActionRequiredEvent":
      case "ChatRetryEvent":
      case "ChatTitleEvent":
      case "ChatDiffStatusEvent": {
        const isNew = comparePositions(position, this.#position) > 0;
        this.#note(isNew, `${event.__typename} of ${Object.values(position).join(".")}`);
        if (isNew) this.#position = position;
      }
    }
  }

  #applyDelta({ generation: { id }, sequence }: ChatEvent & { __typename: "ChatPartEvent" }): void {
    const generation = parseGenerationId(id);
    const order = generation ? compareGenerations(generation, this.#preview.generation) : -1;
    const isNew = order > 0 || (order === 0 && sequence > this.#preview.sequence);
    this.#note(isNew, `delta ${sequence} of ${id}`);
    if (generation && isNew) this.#preview = { generation, sequence };
  }

  #note(isNew: boolean, name: string): void {
    if (isNew) this.applied += 1;
    else this.repeats.push(`${name} was repeated`);
  }
}
