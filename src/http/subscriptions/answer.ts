/** What an operation made of one event, and how it is made. */
import type { ExecutionResult, GraphQLError, GraphQLSchema } from "graphql";
import type { Audience } from "../../domain/common/subscription-source.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import { answerTooLarge, type UserRoom } from "../../resolvers/common/answer-budget.js";
import { answerBytes } from "../graphql/answer-size.js";
import type { ErrorMask } from "../graphql/errors.js";

/** Who asks. */
export type Asker = {
  /** As it is now: rights may change while a subscription runs. */
  viewer(): Viewer;
  /** A fresh context for each execution, with that viewer; what is read with it counts to `room`. */
  createContext(room?: UserRoom): object;
};

/** One execution of an event: for this asker, and for all others whom its source declares to be of the same audience. */
export type Asking = { readonly asker: Asker; readonly audience: Audience };

/** How an answer is made of one event of a subscription. */
export type AnswerEvent = (event: unknown, asking: Asking) => ExecutionResult | Promise<ExecutionResult>;

/** Given an operation and its plain execution, a way to answer its events that may know shortcuts. */
export type AnswerEvents = (execute: AnswerEvent, operation: ExecutableOperation) => AnswerEvent;

export type ExecutableOperation = AdmittedOperation & { schema: GraphQLSchema };

export type AnswerRules = { mask: ErrorMask; maxBytes: number };

/**
 * An answer that may go to many. `errors` are as they were thrown: mask them before they leave, or send `json`, which
 * is as clients may see it.
 */
export class Answer implements ExecutionResult {
  declare readonly data?: ExecutionResult["data"];
  declare readonly errors?: readonly GraphQLError[];
  readonly #bytes: number;
  readonly #mask: ErrorMask;
  #json: string | null = null;

  /** What is larger than `maxBytes` becomes an error that says so. */
  constructor(result: ExecutionResult, { mask, maxBytes }: AnswerRules) {
    const bytes = answerBytes(result, maxBytes);
    const isTooLarge = bytes > maxBytes;
    const { data, errors } = isTooLarge ? { data: null, errors: [answerTooLarge(maxBytes)] } : result;
    if (data !== undefined) this.data = data;
    if (errors !== undefined) this.errors = errors;
    this.#bytes = isTooLarge ? 0 : bytes;
    this.#mask = mask;
  }

  /** Of its JSON; small ones are only estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Written once, however many get it. */
  get json(): string {
    return (this.#json ??= this.#write());
  }

  #write(): string {
    const { data, errors } = this;
    return JSON.stringify(errors ? { data, errors: errors.map(this.#mask) } : { data });
  }
}
