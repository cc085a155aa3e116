/**
 * Answers for the most frequent event of all, a piece of text. Such events differ only in a few plain values, and
 * what a document selects of them does not depend on those. So the document is executed once for each kind of piece,
 * with marks in the place of the values; after that an answer is a copy with the values put in.
 */
import type { ExecutionResult } from "graphql";
import type { ChatEvent } from "../domain/chat-stream.js";
import { generationId, parseGenerationId } from "../domain/chat-events.js";

type Answer = ExecutionResult | Promise<ExecutionResult>;
type TextPiece = ChatEvent & {
  type: "part";
  piece: { type: "text-delta" | "reasoning-delta"; append: string };
};

/** Told by an execution: its answer is for this asker only, since it was made with a look at who asks. */
type Asking = { readonly isPersonal: boolean };

/** How an answer is made of an event, for one operation. */
export type AnswerEvent<A extends Asking> = (event: unknown, asking: A) => Answer;

/** What is put in the place of a mark. */
type Fill = (event: TextPiece) => unknown;
/** An answer with fills in it; objects that hold none are shared between answers. */
type Template = { fill: Fill } | { value: unknown } | { fields: [string, Template][] };

// Marks are values that no other selected field can have: long texts, and numbers far above the ones the event has.
const MARKS = { cursor: "\u0001cursor", append: "\u0001append" };
const GENERATION = {
  historyVersion: 987_654_321_001,
  attempt: 1_987_654_321,
  startedAt: Date.UTC(9876, 4, 3, 2, 1, 0, 987),
};
const STARTED_AT = new Date(GENERATION.startedAt).toISOString();
const SEQUENCE = 1_987_654_322;
const PART_INDEX = 1_987_654_323;

/**
 * Wraps an operation's execution, for all who have it running. Events other than pieces of text are executed as they
 * are.
 */
export function answerPiecesFromTemplates<A extends Asking>(execute: AnswerEvent<A>): AnswerEvent<A> {
  const templates = new Map<string, Template | "none">();
  return (event, asking) => {
    if (!isTextPiece(event)) return execute(event, asking);
    const key = `${event.piece.type} ${event.role}`;
    const known = templates.get(key);
    if (known === "none") return execute(event, asking);
    if (known) return { data: fillIn(known, event) as ExecutionResult["data"] };
    templates.set(key, "none");
    learn(execute(markedLike(event), asking), asking, (template) => templates.set(key, template));
    return execute(event, asking);
  };
}

/**
 * An answer with errors, one that fails, or one that is for a single asker teaches nothing: such events go on being
 * executed.
 */
function learn(marked: Answer, asking: Asking, keep: (template: Template) => void): void {
  const take = ({ errors, data }: ExecutionResult) => {
    if (!errors && !asking.isPersonal && !hasLists(data)) keep(toTemplate(data));
  };
  if (marked instanceof Promise) marked.then(take, () => undefined);
  else take(marked);
}

function hasLists(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null) return false;
  return Array.isArray(answer) || Object.values(answer).some(hasLists);
}

function isTextPiece(event: unknown): event is TextPiece {
  const { type, piece } = event as ChatEvent & { piece?: { type: string } };
  return type === "part" && (piece?.type === "text-delta" || piece?.type === "reasoning-delta");
}

function markedLike(event: TextPiece): TextPiece {
  return {
    ...event,
    cursor: MARKS.cursor,
    generation: GENERATION,
    sequence: SEQUENCE,
    partIndex: PART_INDEX,
    piece: { ...event.piece, append: MARKS.append },
  };
}

function toTemplate(answer: unknown): Template {
  const fill = fillOf(answer);
  if (fill) return { fill };
  if (typeof answer !== "object" || answer === null) return { value: answer };
  return { fields: Object.entries(answer).map(([name, value]) => [name, toTemplate(value)]) };
}

function fillOf(value: unknown): Fill | null {
  switch (value) {
    case MARKS.cursor:
      return (event) => event.cursor;
    case MARKS.append:
      return (event) => event.piece.append;
    case GENERATION.attempt:
      return (event) => event.generation.attempt;
    case STARTED_AT:
      return ({ generation: { startedAt } }) =>
        startedAt == null ? null : new Date(startedAt).toISOString();
    case SEQUENCE:
      return (event) => event.sequence;
    case PART_INDEX:
      return (event) => event.partIndex;
    default:
      return typeof value === "string" && parseGenerationId(value)
        ? (event) => generationId(event.generation)
        : null;
  }
}

function fillIn(template: Template, event: TextPiece): unknown {
  if ("fill" in template) return template.fill(event);
  if ("value" in template) return template.value;
  const answer: Record<string, unknown> = {};
  for (const [name, field] of template.fields) answer[name] = fillIn(field, event);
  return answer;
}
