/**
 * Citations of Claude, which belong to text blocks: the reader joins neighbouring blocks into one text part and records
 * the cited spans; the prompt splits the part into the same blocks again. Pure.
 */
import type { TextBlockParam, TextCitation } from "@anthropic-ai/sdk/resources/messages/messages";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { TextPart } from "../../domain/chats/message-parts.js";
import { isJsonObject, ownMetadata, wellFormed } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";

/** A span of a part's text in UTF-16 units; `citations` are the vendor's own content, sent back unparsed. */
type CitedSpan = { start: number; end: number; citations: JsonValue[] };

/**
 * Accumulator of one text part's citations while it streams. Call it for every block; `end` returns the parts that
 * close the text. `seenUrls` belongs to the message: each page becomes a source once.
 */
export class CitedText {
  readonly #spans: CitedSpan[] = [];
  readonly #sources: ModelStreamPart[] = [];
  #length = 0;
  #blockStart = 0;
  #blockCitations: TextCitation[] = [];

  constructor(private readonly seenUrls: Set<string>) {}

  startBlock(citations: readonly TextCitation[] | null | undefined): void {
    this.endBlock();
    for (const citation of citations ?? []) this.cite(citation);
  }

  append(text: string): void {
    this.#length += text.length;
  }

  cite(citation: TextCitation): void {
    this.#blockCitations.push(citation);
    if (citation.type !== "web_search_result_location" || this.seenUrls.has(citation.url)) return;
    this.seenUrls.add(citation.url);
    const { url, title } = citation;
    this.#sources.push({ type: "source", url, ...(title ? { title } : {}) });
  }

  endBlock(): void {
    if (this.#blockCitations.length > 0 && this.#length > this.#blockStart) {
      const citations = this.#blockCitations as unknown as JsonValue[];
      this.#spans.push({ start: this.#blockStart, end: this.#length, citations });
    }
    this.#blockStart = this.#length;
    this.#blockCitations = [];
  }

  /** Empty for text without citations: the next part closes the text anyway. */
  end(): ModelStreamPart[] {
    this.endBlock();
    if (this.#spans.length === 0) return this.#sources;
    const cited = this.#spans as unknown as JsonValue;
    return [{ type: "text-end", providerMetadata: { anthropic: { cited } } }, ...this.#sources];
  }
}

/** The blocks of a text part, one for each cited span; blank ones are omitted, as the vendor refuses them. */
export function textBlocks(part: TextPart, withCitations: boolean): TextBlockParam[] {
  const blocks: TextBlockParam[] = [];
  const add = (from: number, to: number, citations?: JsonValue[]) => {
    const text = wellFormed(part.text.slice(from, to));
    if (text.trim() === "") return;
    // The vendor's own content, stored unparsed and sent back unchanged.
    const cited = citations as unknown as TextBlockParam["citations"] | undefined;
    blocks.push({ type: "text", text, ...(cited ? { citations: cited } : {}) });
  };
  let position = 0;
  for (const { start, end, citations } of withCitations ? citedSpans(part) : []) {
    add(position, start);
    add(start, end, citations);
    position = end;
  }
  add(position, part.text.length);
  return blocks;
}

/** The recorded spans that fit the text: stored data may be inconsistent. */
function citedSpans({ text, providerMetadata }: TextPart): CitedSpan[] {
  const { cited } = ownMetadata(providerMetadata, "anthropic");
  if (!Array.isArray(cited)) return [];
  let position = 0;
  return cited.filter(isCitedSpan).filter(({ start, end }) => {
    const fits = start >= position && end > start && end <= text.length;
    if (fits) position = end;
    return fits;
  });
}

function isCitedSpan(value: JsonValue): value is JsonObject & CitedSpan {
  return (
    isJsonObject(value) &&
    typeof value.start === "number" &&
    typeof value.end === "number" &&
    Array.isArray(value.citations)
  );
}
