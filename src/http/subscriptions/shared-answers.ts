/**
 * Execution of events shared between subscribers: those of one document with the same variables share a
 * `SharedOperation`, and an answer that it made goes to every one of its audience. The audience is declared by the
 * event's source. An event for every subscriber is executed without a context, so that its answer cannot depend on
 * the viewer.
 */
import { execute, type GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import type { Audience } from "../../domain/common/subscription-source.js";
import type { Viewer } from "../../domain/users/viewer.js";
import {
  Answer,
  type AnswerEvent,
  type AnswerEvents,
  type AnswerRules,
  type Asker,
  type Asking,
} from "./answer.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import type { ErrorMask } from "../graphql/errors.js";
import { operationKey } from "./operation-key.js";

/** JSON of answers that is kept for those who have not asked yet, on the whole server; the oldest goes first. */
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;
/** What an answer counts as while it is being made, so that those are bounded too. */
const UNFINISHED_CHARACTERS = 1_024;
/** What an answer costs beside its JSON: its key, its result, its place. */
const OVERHEAD_CHARACTERS = 512;

type Made = Answer | Promise<Answer>;
type Kept = LRUCache<string, Made>;

export type SharingParts = {
  schema: GraphQLSchema;
  mask: ErrorMask;
  /** Bytes of one answer's JSON. */
  maxAnswerBytes: number;
  /** Shortcuts for the most frequent events; without it every event is executed. */
  answerEvents?: AnswerEvents | undefined;
};

/** The operations of one server's subscribers. Those that nobody has any more take no memory. */
export class SharedOperations {
  readonly #parts: SharingParts;
  readonly #running = new Map<string, SharedOperation>();
  readonly #kept: Kept = new LRUCache({ maxSize: MAX_KEPT_CHARACTERS });
  readonly #eventNumbers = new EventNumbers();
  #opened = 0;

  constructor(parts: SharingParts) {
    this.#parts = parts;
  }

  /** Different operations that somebody has now. */
  get count(): number {
    return this.#running.size;
  }

  /** The operation that is shared by all who ask the same. Leave it once for each time that it was entered. */
  enter(operation: AdmittedOperation): SharedOperation {
    const key = this.keyOf(operation);
    const shared = this.#running.get(key) ?? this.#open(key, operation);
    shared.users += 1;
    return shared;
  }

  leave(shared: SharedOperation): void {
    shared.users -= 1;
    if (shared.users === 0) this.#running.delete(shared.key);
  }

  /** Operations with the same key share what they make of events. */
  keyOf(operation: AdmittedOperation): string {
    return operationKey(operation);
  }

  #open(key: string, operation: AdmittedOperation): SharedOperation {
    this.#opened += 1;
    const place = { key, number: this.#opened, kept: this.#kept, eventNumbers: this.#eventNumbers };
    const shared = new SharedOperation(operation, this.#parts, place);
    this.#running.set(key, shared);
    return shared;
  }
}

type Place = { key: string; number: number; kept: Kept; eventNumbers: EventNumbers };

/** One document with its variables, whoever has it running. */
export class SharedOperation {
  /** Subscriptions that have it now. */
  users = 0;
  readonly #place: Place;
  readonly #rules: AnswerRules;
  readonly #answerEvent: AnswerEvent;

  constructor(operation: AdmittedOperation, parts: SharingParts, place: Place) {
    const { document, operationName, variableValues } = operation;
    const { schema, answerEvents, mask, maxAnswerBytes: maxBytes } = parts;
    const plain: AnswerEvent = (event, { asker, audience }) =>
      execute({
        ...{ schema, document, operationName, variableValues },
        rootValue: event,
        contextValue: audience === "every_subscriber" ? undefined : asker.createContext(),
      });
    this.#answerEvent = answerEvents?.(plain, { schema, ...operation }) ?? plain;
    this.#rules = { mask, maxBytes };
    this.#place = place;
  }

  get key(): string {
    return this.#place.key;
  }

  /** The event's answer for `asker`; rejects only when something is broken, never for a field's error. */
  answer(event: object, asker: Asker, audience: Audience): Made {
    const asking: Asking = { asker, audience };
    if (this.users < 2) return this.#make(event, asking);
    const { kept, number, eventNumbers } = this.#place;
    const forWhom = audience === "every_subscriber" ? "" : rightsOf(asker.viewer());
    const key = `${number} ${eventNumbers.of(event)} ${forWhom}`;
    const known = kept.get(key);
    if (known) return known;
    const made = this.#make(event, asking);
    if (!(made instanceof Promise)) return this.#keep(key, made);
    const finished = made.then((answer) => this.#keep(key, answer));
    kept.set(key, finished, { size: UNFINISHED_CHARACTERS });
    finished.catch(() => kept.delete(key));
    return finished;
  }

  #keep(key: string, answer: Answer): Answer {
    // It is written by the first who sends it: by then there is room for it.
    this.#place.kept.set(key, answer, { size: OVERHEAD_CHARACTERS + answer.bytes });
    return answer;
  }

  #make(event: object, asking: Asking): Made {
    const result = this.#answerEvent(event, asking);
    if (result instanceof Promise) return result.then((late) => new Answer(late, this.#rules));
    return new Answer(result, this.#rules);
  }
}

/** Everything that answers for the same viewer may depend on besides the event, the document and its variables. */
function rightsOf({ role, userId }: Viewer): string {
  return `${role} ${userId}`;
}

/** Gives each event a number of its own, for as long as the event lives. */
class EventNumbers {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(event: object): number {
    const known = this.#numbers.get(event);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#numbers.set(event, this.#last);
    return this.#last;
  }
}
