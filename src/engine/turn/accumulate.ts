/** A model's stream, gathered into the parts of one message; each step of it also becomes a piece for the preview. */
import type { LivePiece, Piece } from "../../domain/chat-events.js";
import type {
  MessagePart,
  NoticePart,
  ReasoningPart,
  TextPart,
  TokenUsage,
  ToolCallPart,
} from "../../domain/message-parts.js";
import type { FinishReason, ModelStreamPart } from "../../providers/types.js";

/** One part in the making. A call has no `part` until its input is complete. */
type Slot =
  | { kind: "text"; part: TextPart; isOpen: boolean }
  | { kind: "reasoning"; part: ReasoningPart; isOpen: boolean }
  | { kind: "call"; toolCallId: string; part: ToolCallPart | null }
  | { kind: "other"; part: MessagePart };

export type PlacedPiece = { partIndex: number; piece: Piece };

/** What the engine adds to what a model says. */
export type Additions = {
  /** They stand before all that the model says. */
  notices: readonly NoticePart[];
  /** The id of the registered server whose tool it is; undefined = of none. */
  serverOf(toolName: string): string | undefined;
};

export const NO_ADDITIONS: Additions = { notices: [], serverOf: () => undefined };

export class MessageAccumulator {
  readonly #slots: Slot[];
  readonly #additions: Additions;
  usage: TokenUsage | null = null;
  finishReason: FinishReason | null = null;
  /** The vendor's id of the response; null when it gives none. */
  responseId: string | null = null;

  constructor(additions: Additions = NO_ADDITIONS) {
    this.#additions = additions;
    this.#slots = additions.notices.map((part) => ({ kind: "other", part }));
  }

  /** Takes the next part of the stream; returns what it adds to the preview, if anything. */
  add(part: ModelStreamPart): PlacedPiece | null {
    switch (part.type) {
      case "text-delta":
        return this.#appendText(part.text);
      case "reasoning-delta":
        return this.#appendReasoning(part.text);
      case "text-end":
        this.#endText(part);
        return null;
      case "reasoning-end":
        this.#endReasoning(part);
        return null;
      case "tool-input-delta": {
        const partIndex = this.#callSlot(part.toolCallId);
        const { toolCallId, toolName, delta } = part;
        return { partIndex, piece: { type: "tool-input-delta", toolCallId, toolName, append: delta } };
      }
      case "tool-call": {
        const partIndex = this.#callSlot(part.toolCallId);
        const call = this.#stamped(part);
        this.#slots[partIndex] = { kind: "call", toolCallId: part.toolCallId, part: call };
        return { partIndex, piece: call };
      }
      case "tool-result":
      case "source":
        this.#closeOpen();
        this.#slots.push({ kind: "other", part });
        return { partIndex: this.#slots.length - 1, piece: part };
      case "response":
        this.responseId = part.id;
        return null;
      case "usage":
        this.usage = part.usage;
        return null;
      case "finish":
        this.finishReason = part.reason;
        return null;
    }
  }

  /** The message so far. Calls whose input never ended are left out, and so are parts that say nothing. */
  parts(): MessagePart[] {
    return this.#slots
      .map((slot) => slot.part)
      .filter((part) => part !== null)
      .filter((part) => (part.type === "text" ? part.text !== "" : true))
      .filter((part) =>
        part.type === "reasoning" ? part.text !== "" || part.providerMetadata !== undefined : true,
      );
  }

  #appendText(text: string): PlacedPiece {
    const last = this.#slots.at(-1);
    if (last?.kind === "text" && last.isOpen) last.part.text += text;
    else {
      this.#closeOpen();
      this.#slots.push({ kind: "text", isOpen: true, part: { type: "text", text } });
    }
    return { partIndex: this.#slots.length - 1, piece: { type: "text-delta", append: text } };
  }

  #appendReasoning(text: string): PlacedPiece {
    const last = this.#slots.at(-1);
    if (last?.kind === "reasoning" && last.isOpen) last.part.text += text;
    else {
      this.#closeOpen();
      this.#slots.push({ kind: "reasoning", isOpen: true, part: { type: "reasoning", text } });
    }
    return { partIndex: this.#slots.length - 1, piece: { type: "reasoning-delta", append: text } };
  }

  /** Without open text there is nothing to close: metadata alone says nothing. */
  #endText({ providerMetadata }: Extract<ModelStreamPart, { type: "text-end" }>): void {
    const last = this.#slots.at(-1);
    if (last?.kind !== "text" || !last.isOpen) return;
    if (providerMetadata) last.part.providerMetadata = providerMetadata;
    last.isOpen = false;
  }

  #endReasoning(end: Extract<ModelStreamPart, { type: "reasoning-end" }>): void {
    const extra = {
      ...(end.isRedacted ? { isRedacted: true } : {}),
      ...(end.providerMetadata ? { providerMetadata: end.providerMetadata } : {}),
    };
    const last = this.#slots.at(-1);
    if (last?.kind === "reasoning" && last.isOpen) {
      Object.assign(last.part, extra);
      last.isOpen = false;
      return;
    }
    this.#closeOpen();
    this.#slots.push({ kind: "reasoning", isOpen: false, part: { type: "reasoning", text: "", ...extra } });
  }

  #callSlot(toolCallId: string): number {
    this.#closeOpen();
    const existing = this.#slots.findIndex((slot) => slot.kind === "call" && slot.toolCallId === toolCallId);
    if (existing >= 0) return existing;
    this.#slots.push({ kind: "call", toolCallId, part: null });
    return this.#slots.length - 1;
  }

  #stamped(call: ToolCallPart): ToolCallPart {
    const mcpServerId = call.isProviderExecuted ? undefined : this.#additions.serverOf(call.toolName);
    return mcpServerId === undefined ? call : { ...call, mcpServerId };
  }

  #closeOpen(): void {
    const last = this.#slots.at(-1);
    if (last?.kind === "text" || last?.kind === "reasoning") last.isOpen = false;
  }
}

/** The message that a preview shows: for a partial step whose own worker is lost. Unfinished calls are left out. */
export function partsFromPieces(pieces: LivePiece[]): MessagePart[] {
  const parts = new Map<number, MessagePart>();
  for (const { partIndex, piece } of pieces) {
    const known = parts.get(partIndex);
    if (piece.type === "text-delta" || piece.type === "reasoning-delta") {
      const type = piece.type === "text-delta" ? "text" : "reasoning";
      const text = known?.type === type ? known.text : "";
      parts.set(partIndex, { type, text: text + piece.append });
    } else if (!("append" in piece)) parts.set(partIndex, piece);
  }
  return [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
}
