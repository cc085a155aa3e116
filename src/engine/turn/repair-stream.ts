/**
 * Repairs a vendor's stream before it is shown and stored, so that the live text equals the saved text. A surrogate pair
 * split over two deltas is joined, a lone half becomes U+FFFD, and JSON becomes storable (see `plainJson`).
 */
import type { JsonObject } from "../../domain/common/json.js";
import { endsInMidPair, wellFormed } from "../../domain/common/well-formed.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { plainJson } from "../../domain/common/plain-json.js";

const REPLACEMENT = "\uFFFD";

type Delta = Extract<ModelStreamPart, { type: "text-delta" | "reasoning-delta" }>;
type InputDelta = Extract<ModelStreamPart, { type: "tool-input-delta" }>;
type Emit = (part: ModelStreamPart) => void;

/** One per model call. */
export class StreamRepair {
  /** The first half of a pair at the end of the latest delta; text and reasoning cannot both be open. */
  #half: { type: Delta["type"]; text: string } | null = null;
  /** The same for tool inputs, which may be streamed concurrently, by call id. */
  readonly #inputHalves = new Map<string, InputDelta>();

  constructor(private readonly emit: Emit) {}

  take(part: ModelStreamPart): void {
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        return this.#takeDelta(part);
      case "tool-input-delta":
        this.#endText();
        return this.#takeInput(part);
      // They do not end the text.
      case "usage":
      case "response":
        return this.emit(part);
      case "tool-call":
        this.#endText();
        this.#endInput(part.toolCallId);
        return this.emit({ ...withPlainMetadata(part), arguments: plainObject(part.arguments) });
      case "tool-result":
        this.#endText();
        return this.emit({ ...withPlainMetadata(part), result: plainJson(part.result) });
      case "text-end":
      case "reasoning-end":
        this.#endText();
        return this.emit(withPlainMetadata(part));
      case "source":
        this.#endText();
        return this.emit({
          ...part,
          url: wellFormed(part.url),
          ...(part.title === undefined ? {} : { title: wellFormed(part.title) }),
        });
      case "finish":
        this.end();
        return this.emit(part);
    }
  }

  /** Ends the stream: a pending half has lost its other one. */
  end(): void {
    this.#endText();
    for (const id of [...this.#inputHalves.keys()]) this.#endInput(id);
  }

  #takeDelta(part: Delta): void {
    if (this.#half !== null && this.#half.type !== part.type) this.#endText();
    const joined = (this.#half?.text ?? "") + part.text;
    this.#half = endsInMidPair(joined) ? { type: part.type, text: joined.slice(-1) } : null;
    const text = wellFormed(this.#half === null ? joined : joined.slice(0, -1));
    if (text === part.text) this.emit(part);
    else if (text !== "") this.emit({ ...part, text });
  }

  #takeInput(part: InputDelta): void {
    const joined = (this.#inputHalves.get(part.toolCallId)?.delta ?? "") + part.delta;
    const isCut = endsInMidPair(joined);
    if (isCut) this.#inputHalves.set(part.toolCallId, { ...part, delta: joined.slice(-1) });
    else this.#inputHalves.delete(part.toolCallId);
    const delta = wellFormed(isCut ? joined.slice(0, -1) : joined);
    if (delta === part.delta) this.emit(part);
    else if (delta !== "") this.emit({ ...part, delta });
  }

  #endText(): void {
    const half = this.#half;
    if (half === null) return;
    this.#half = null;
    this.emit({ type: half.type, text: REPLACEMENT });
  }

  #endInput(toolCallId: string): void {
    const half = this.#inputHalves.get(toolCallId);
    if (half === undefined) return;
    this.#inputHalves.delete(toolCallId);
    this.emit({ ...half, delta: REPLACEMENT });
  }
}

function withPlainMetadata<Part extends { providerMetadata?: JsonObject }>(part: Part): Part {
  const { providerMetadata } = part;
  return providerMetadata === undefined ? part : { ...part, providerMetadata: plainObject(providerMetadata) };
}

function plainObject(value: JsonObject): JsonObject {
  const plain = plainJson(value);
  return typeof plain === "object" && plain !== null && !Array.isArray(plain) ? plain : {};
}
