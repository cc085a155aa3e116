// Whether a client was made to apply an event twice, or out of its order. Saved news has one place in the chat's
// history, which only grows; a delta has its number, for as long as the preview that it belongs to is kept.
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
  /** Events that said something new. */
  applied = 0;
  /** Sentences about each that did not. */
  readonly doubles: string[] = [];
  /** Everything saved up to here has been told. */
  #place = endOfVersion(0);
  /** The newest generation that was shown, and how far. */
  #shown: { generation: Generation; sequence: number } = {
    generation: { historyVersion: 0, attempt: 0 },
    sequence: 0,
  };

  apply(event: ChatEvent): void {
    const place = decodeEventCursor(event.cursor)?.position;
    if (!place) return void this.doubles.push(`${event.__typename} has no place: ${event.cursor}`);
    switch (event.__typename) {
      case "ChatPartEvent":
        return this.#applyPiece(event);
      case "ChatPreviewResetEvent":
        this.#shown.sequence = 0;
        return;
      case "ChatRefreshEvent":
        this.applied += 1;
        this.#shown.sequence = 0;
        this.#place = place;
        return;
      case "ChatCaughtUpEvent":
        this.#place = place;
        return;
      case "ChatMessageEvent":
      case "ChatStatusEvent":
      case "ChatErrorEvent":
      case "ChatQueueEvent":
      case "ChatActionRequiredEvent":
      case "ChatRetryEvent":
      case "ChatTitleEvent":
      case "ChatDiffStatusEvent": {
        const isNew = comparePositions(place, this.#place) > 0;
        this.#note(isNew, `${event.__typename} of ${Object.values(place).join(".")}`);
        if (isNew) this.#place = place;
      }
    }
  }

  #applyPiece({ generation: { id }, sequence }: ChatEvent & { __typename: "ChatPartEvent" }): void {
    const generation = parseGenerationId(id);
    const order = generation ? compareGenerations(generation, this.#shown.generation) : -1;
    const isNew = order > 0 || (order === 0 && sequence > this.#shown.sequence);
    this.#note(isNew, `delta ${sequence} of ${id}`);
    if (generation && isNew) this.#shown = { generation, sequence };
  }

  #note(isNew: boolean, name: string): void {
    if (isNew) this.applied += 1;
    else this.doubles.push(`${name} was told again`);
  }
}
