/**
 * Shares the execution of events between subscribers: those with the same document and variables share a
 * `SharedOperation`, and each of its results goes to the event's whole audience, which the event's source declares. An
 * event for every subscriber is executed without a context, so that its result cannot depend on the viewer.
 */
import { execute, type GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import type { Audience } from "../../domain/common/subscription-source.js";
import type { Viewer } from "../../domain/users/viewer.js";
import {
  EventResult,
  type EventExecutor,
  type CreateEventExecutor,
  type ResultRules,
  type Requester,
  type ExecutionScope,
} from "./event-result.js";
import type { AdmittedOperation } from "../graphql/document-gate.js";
import type { ErrorMask } from "../graphql/errors.js";
import { operationKey } from "./operation-key.js";

/** JSON of cached results on the whole server; the oldest are evicted first. */
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;
/** Size assumed for a result that is being executed, so that those are bounded too. */
const PENDING_CHARACTERS = 1_024;
/** Cost of a cached result beside its JSON: its key, its object, its cache entry. */
const OVERHEAD_CHARACTERS = 512;

type MaybePending = EventResult | Promise<EventResult>;
type ResultCache = LRUCache<string, MaybePending>;

export type SharedOperationDependencies = {
  schema: GraphQLSchema;
  mask: ErrorMask;
  /** Largest result, in bytes of JSON. */
  maxResponseBytes: number;
  /** Adds shortcuts for frequent events; without it every event is executed in full. */
  createEventExecutor?: CreateEventExecutor | undefined;
};

/** The operations of one server's subscribers. Those without subscribers take no memory. */
export class SharedOperations {
  readonly #dependencies: SharedOperationDependencies;
  readonly #running = new Map<string, SharedOperation>();
  readonly #cache: ResultCache = new LRUCache({ maxSize: MAX_CACHED_CHARACTERS });
  readonly #eventNumbers = new EventNumbers();
  #opened = 0;

  constructor(dependencies: SharedOperationDependencies) {
    this.#dependencies = dependencies;
  }

  /** Number of distinct operations with subscribers. */
  get count(): number {
    return this.#running.size;
  }

  /** The operation shared by all subscribers with the same key. Release it once per call. */
  acquire(operation: AdmittedOperation): SharedOperation {
    const key = this.keyOf(operation);
    const shared = this.#running.get(key) ?? this.#open(key, operation);
    shared.users += 1;
    return shared;
  }

  release(shared: SharedOperation): void {
    shared.users -= 1;
    if (shared.users === 0) this.#running.delete(shared.key);
  }

  /** Operations with the same key share their results. */
  keyOf(operation: AdmittedOperation): string {
    return operationKey(operation);
  }

  #open(key: string, operation: AdmittedOperation): SharedOperation {
    this.#opened += 1;
    const identity = { key, number: this.#opened, cache: this.#cache, eventNumbers: this.#eventNumbers };
    const shared = new SharedOperation(operation, this.#dependencies, identity);
    this.#running.set(key, shared);
    return shared;
  }
}

type Identity = { key: string; number: number; cache: ResultCache; eventNumbers: EventNumbers };

/** One document with its variables, for all its subscribers. */
export class SharedOperation {
  /** Number of subscriptions. */
  users = 0;
  readonly #identity: Identity;
  readonly #rules: ResultRules;
  readonly #execute: EventExecutor;

  constructor(operation: AdmittedOperation, dependencies: SharedOperationDependencies, identity: Identity) {
    const { document, operationName, variableValues } = operation;
    const { schema, createEventExecutor, mask, maxResponseBytes: maxBytes } = dependencies;
    const plain: EventExecutor = (event, { requester, audience }) =>
      execute({
        ...{ schema, document, operationName, variableValues },
        rootValue: event,
        contextValue: audience === "every_subscriber" ? undefined : requester.createContext(),
      });
    this.#execute = createEventExecutor?.(plain, { schema, ...operation }) ?? plain;
    this.#rules = { mask, maxBytes };
    this.#identity = identity;
  }

  get key(): string {
    return this.#identity.key;
  }

  /** The event's result for `requester`. Rejects only for internal failures, never for a field's error. */
  resultOf(event: object, requester: Requester, audience: Audience): MaybePending {
    const scope: ExecutionScope = { requester, audience };
    if (this.users < 2) return this.#resultOf(event, scope);
    const { cache, number, eventNumbers } = this.#identity;
    const viewerKey = audience === "every_subscriber" ? "" : viewerKeyOf(requester.viewer());
    const key = `${number} ${eventNumbers.of(event)} ${viewerKey}`;
    const known = cache.get(key);
    if (known) return known;
    const result = this.#resultOf(event, scope);
    if (!(result instanceof Promise)) return this.#store(key, result);
    const pending = result.then((finished) => this.#store(key, finished));
    cache.set(key, pending, { size: PENDING_CHARACTERS });
    pending.catch(() => cache.delete(key));
    return pending;
  }

  #store(key: string, result: EventResult): EventResult {
    // The first sender serializes it: by then its bytes are reserved.
    this.#identity.cache.set(key, result, { size: OVERHEAD_CHARACTERS + result.bytes });
    return result;
  }

  #resultOf(event: object, scope: ExecutionScope): MaybePending {
    const result = this.#execute(event, scope);
    if (result instanceof Promise) return result.then((late) => new EventResult(late, this.#rules));
    return new EventResult(result, this.#rules);
  }
}

/** Everything about the viewer that a result may depend on. */
function viewerKeyOf({ role, userId }: Viewer): string {
  return `${role} ${userId}`;
}

/** Numbers events by identity; an event keeps its number for as long as it is referenced. */
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
