/** Accumulates a model's stream into the parts of one message, and converts each stream part to a delta for the preview. */
import type { LiveDelta, MessageDelta } from "../../domain/chats/chat-events.js";
import type {
  MessagePart,
  NoticePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from "../../domain/chats/message-parts.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { ModelStreamPart, ReportedUsage } from "../../providers/types.js";

/** A part under construction. A call has no `part` until its input is complete. */
type Slot =
  | { kind: "text"; part: TextPart; isOpen: boolean }
  | { kind: "reasoning"; part: ReasoningPart; isOpen: boolean }
  | CallSlot
  | { kind: "other"; part: MessagePart };

type CallSlot = {
  kind: "call";
  /** In the message. */
  index: number;
  toolCallId: string;
  toolName: string;
  part: ToolCallPart | null;
  inputCharacters: number;
};

export type PartDelta = { partIndex: number; delta: MessageDelta };

/** What the engine adds to a model's answer. */
export type Preamble = {
  /** They come first in the message. */
  notices: readonly NoticePart[];
  /** Id of the registered MCP server that the tool belongs to; undefined = none. */
  serverOf(toolName: string): string | undefined;
};

export const EMPTY_PREAMBLE: Preamble = { notices: [], serverOf: () => undefined };

export class MessageAccumulator {
  readonly #slots: Slot[];
  readonly #preamble: Preamble;
  /** The vendor's latest report; null = none yet. */
  usage: ReportedUsage | null = null;
  finishReason: FinishReason | null = null;
  /** The vendor's id of the response; null when it gives none. */
  responseId: string | null = null;
  /** Something has arrived, if only a token count: the vendor is working on it. */
  hasBegun = false;

  constructor(preamble: Preamble = EMPTY_PREAMBLE) {
    this.#preamble = preamble;
    this.#slots = preamble.notices.map((part) => ({ kind: "other", part }));
  }

  /** Adds the next part of the stream; returns its delta for the preview, if any. */
  add(part: ModelStreamPart): PartDelta | null {
    this.hasBegun = true;
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
        const { toolCallId, toolName, delta } = part;
        const slot = this.#callSlot(part);
        slot.inputCharacters += delta.length;
        const partIndex = slot.index;
        return { partIndex, delta: { type: "tool-input-delta", toolCallId, toolName, append: delta } };
      }
      case "tool-call": {
        const slot = this.#callSlot(part);
        slot.part = this.#stamped(part);
        return { partIndex: slot.index, delta: slot.part };
      }
      case "tool-result":
      case "source":
        this.#closeOpen();
        this.#slots.push({ kind: "other", part });
        return { partIndex: this.#slots.length - 1, delta: part };
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

  /**
   * Marks an answer that was cut off by the output limit: a call under way becomes a cut call, and where the turn ends
   * here, `notice` is appended for users. Returns the deltas for the preview. `startedAt`: of the cut calls.
   */
  cut(notice: NoticePart, startedAt: number): PartDelta[] {
    const cut = this.#slots.flatMap((slot, partIndex): PartDelta[] => {
      if (slot.kind !== "call" || slot.part !== null) return [];
      const { toolCallId, toolName } = slot;
      const call: ToolCallPart = {
        type: "tool-call",
        toolCallId,
        toolName,
        arguments: {},
        isCut: true,
        startedAt,
      };
      slot.part = this.#stamped(call);
      return [{ partIndex, delta: slot.part }];
    });
    if (this.#slots.some(({ kind, part }) => kind === "call" && !isProviders(part))) return cut;
    this.#closeOpen();
    this.#slots.push({ kind: "other", part: notice });
    return [...cut, { partIndex: this.#slots.length - 1, delta: notice }];
  }

  /** Characters of streamed arguments that are in no part, because their calls are incomplete. */
  get lostInputCharacters(): number {
    return this.#slots.reduce(
      (sum, slot) =>
        sum + (slot.kind === "call" && (slot.part?.isCut ?? !slot.part) ? slot.inputCharacters : 0),
      0,
    );
  }

  /** The message so far, without calls whose input is incomplete and without empty parts. */
  parts(): MessagePart[] {
    return this.#slots
      .map((slot) => slot.part)
      .filter((part) => part !== null)
      .filter((part) => (part.type === "text" ? part.text !== "" : true))
      .filter((part) =>
        part.type === "reasoning" ? part.text !== "" || part.providerMetadata !== undefined : true,
      );
  }

  #appendText(text: string): PartDelta {
    const last = this.#slots.at(-1);
    if (last?.kind === "text" && last.isOpen) last.part.text += text;
    else {
      this.#closeOpen();
      this.#slots.push({ kind: "text", isOpen: true, part: { type: "text", text } });
    }
    return { partIndex: this.#slots.length - 1, delta: { type: "text-delta", append: text } };
  }

  #appendReasoning(text: string): PartDelta {
    const last = this.#slots.at(-1);
    if (last?.kind === "reasoning" && last.isOpen) last.part.text += text;
    else {
      this.#closeOpen();
      this.#slots.push({ kind: "reasoning", isOpen: true, part: { type: "reasoning", text } });
    }
    return { partIndex: this.#slots.length - 1, delta: { type: "reasoning-delta", append: text } };
  }

  /** Without open text there is nothing to close: metadata alone makes no part. */
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

  #callSlot({ toolCallId, toolName }: Pick<ToolCallPart, "toolCallId" | "toolName">): CallSlot {
    this.#closeOpen();
    for (const slot of this.#slots) if (slot.kind === "call" && slot.toolCallId === toolCallId) return slot;
    const index = this.#slots.length;
    const slot: CallSlot = { kind: "call", index, toolCallId, toolName, part: null, inputCharacters: 0 };
    this.#slots.push(slot);
    return slot;
  }

  #stamped(call: ToolCallPart): ToolCallPart {
    const mcpServerId = call.isProviderExecuted ? undefined : this.#preamble.serverOf(call.toolName);
    return mcpServerId === undefined ? call : { ...call, mcpServerId };
  }

  #closeOpen(): void {
    const last = this.#slots.at(-1);
    if (last?.kind === "text" || last?.kind === "reasoning") last.isOpen = false;
  }
}

function isProviders(part: MessagePart | null): boolean {
  return part?.type === "tool-call" && part.isProviderExecuted === true;
}

/** Rebuilds a message from its deltas: for a partial step whose worker is lost. Unfinished calls are left out. */
export function partsFromDeltas(deltas: LiveDelta[]): MessagePart[] {
  const parts = new Map<number, MessagePart>();
  for (const { partIndex, delta } of deltas) {
    const known = parts.get(partIndex);
    if (delta.type === "text-delta" || delta.type === "reasoning-delta") {
      const type = delta.type === "text-delta" ? "text" : "reasoning";
      const text = known?.type === type ? known.text : "";
      parts.set(partIndex, { type, text: text + delta.append });
    } else if (!("append" in delta)) parts.set(partIndex, delta);
  }
  return [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
}
