/**
 * Claude cites in blocks of text, a person reads one text: the reader joins neighbouring blocks into one part and
 * notes which stretch of it had which citations; the prompt cuts the same blocks out of it again. Pure.
 */
import type { TextBlockParam, TextCitation } from "@anthropic-ai/sdk/resources/messages/messages";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { TextPart } from "../../domain/chats/message-parts.js";
import { isJsonObject, ownMetadata, wellFormed } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";

/** A stretch of a part's text in UTF-16 units; `citations` are the vendor's own words and go back unread. */
type CitedStretch = { start: number; end: number; citations: JsonValue[] };

/**
 * The text of one part while it streams. Tell it of every block; `end` gives what closes the part.
 * `seenUrls` belongs to the message: each page becomes a source once.
 */
export class CitedText {
  readonly #stretches: CitedStretch[] = [];
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
      this.#stretches.push({ start: this.#blockStart, end: this.#length, citations });
    }
    this.#blockStart = this.#length;
    this.#blockCitations = [];
  }

  /** Nothing for text without citations: what follows closes it anyway. */
  end(): ModelStreamPart[] {
    this.endBlock();
    if (this.#stretches.length === 0) return this.#sources;
    const cited = this.#stretches as unknown as JsonValue;
    return [{ type: "text-end", providerMetadata: { anthropic: { cited } } }, ...this.#sources];
  }
}

/** The blocks of a text part, each cited stretch as its own; blank ones are left out, as the vendor demands. */
export function textBlocks(part: TextPart, withCitations: boolean): TextBlockParam[] {
  const blocks: TextBlockParam[] = [];
  const add = (from: number, to: number, citations?: JsonValue[]) => {
    const text = wellFormed(part.text.slice(from, to));
    if (text.trim() === "") return;
    // The vendor's own words, kept unread so that they can go back exactly as they came.
    const cited = citations as unknown as TextBlockParam["citations"] | undefined;
    blocks.push({ type: "text", text, ...(cited ? { citations: cited } : {}) });
  };
  let position = 0;
  for (const { start, end, citations } of withCitations ? citedStretches(part) : []) {
    add(position, start);
    add(start, end, citations);
    position = end;
  }
  add(position, part.text.length);
  return blocks;
}

/** What was noted, as far as it fits the text: stored data is not trusted to be in order. */
function citedStretches({ text, providerMetadata }: TextPart): CitedStretch[] {
  const { cited } = ownMetadata(providerMetadata, "anthropic");
  if (!Array.isArray(cited)) return [];
  let position = 0;
  return cited.filter(isCitedStretch).filter(({ start, end }) => {
    const fits = start >= position && end > start && end <= text.length;
    if (fits) position = end;
    return fits;
  });
}

function isCitedStretch(value: JsonValue): value is JsonObject & CitedStretch {
  return (
    isJsonObject(value) &&
    typeof value.start === "number" &&
    typeof value.end === "number" &&
    Array.isArray(value.citations)
  );
}
