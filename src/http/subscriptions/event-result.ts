/** The result of executing a subscription's operation for one event, and the functions that produce it. */
import type { ExecutionResult, GraphQLError, GraphQLSchema } from "graphql";
import type { Audience } from "../../domain/common/subscription-source.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import { responseTooLarge, type ByteReservation } from "../../resolvers/common/response-budget.js";
import { resultBytes } from "../graphql/response-size.js";
import type { ErrorMask } from "../graphql/errors.js";

/** The subscriber that an event is executed for. */
export type Requester = {
  /** The viewer with current permissions: they may change while a subscription runs. */
  viewer(): Viewer;
  /** Creates a fresh context for one execution by that viewer; what is read with it is counted to `reservation`. */
  createContext(reservation?: ByteReservation): object;
};

/** The scope of one execution: this requester, and all others of the audience that the event's source declares. */
export type ExecutionScope = { readonly requester: Requester; readonly audience: Audience };

/** Executes a subscription's operation for one event. */
export type EventExecutor = (
  event: unknown,
  scope: ExecutionScope,
) => ExecutionResult | Promise<ExecutionResult>;

/** Creates an executor for an operation, given its default one; may take shortcuts for some events. */
export type CreateEventExecutor = (execute: EventExecutor, operation: ExecutableOperation) => EventExecutor;

export type ExecutableOperation = AdmittedOperation & { schema: GraphQLSchema };

export type ResultRules = { mask: ErrorMask; maxBytes: number };

/**
 * A result that may be sent to many subscribers. `errors` are not masked: mask them before sending, or send `json`,
 * which is.
 */
export class EventResult implements ExecutionResult {
  declare readonly data?: ExecutionResult["data"];
  declare readonly errors?: readonly GraphQLError[];
  readonly #bytes: number;
  readonly #mask: ErrorMask;
  #json: string | null = null;

  /** A result larger than `maxBytes` is replaced by an error. */
  constructor(result: ExecutionResult, { mask, maxBytes }: ResultRules) {
    const bytes = resultBytes(result, maxBytes);
    const isTooLarge = bytes > maxBytes;
    const { data, errors } = isTooLarge ? { data: null, errors: [responseTooLarge(maxBytes)] } : result;
    if (data !== undefined) this.data = data;
    if (errors !== undefined) this.errors = errors;
    this.#bytes = isTooLarge ? 0 : bytes;
    this.#mask = mask;
  }

  /** Size of the JSON; only estimated for small results. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Serialized once, however many subscribers get it. */
  get json(): string {
    return (this.#json ??= this.#serialize());
  }

  #serialize(): string {
    const { data, errors } = this;
    return JSON.stringify(errors ? { data, errors: errors.map(this.#mask) } : { data });
  }
}
