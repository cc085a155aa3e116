/** The rules of paging, for every connection: how many, from which end, and what a cursor looks like. */
import { decodePageCursor, encodePageCursor } from "../../domain/common/cursors.js";
import type { Connection } from "../../schema/common/connection.js";
import type { Page, PageRequest, Place } from "../../store/common/pages.js";
import { badInput } from "./errors.js";

/** Rows of one page at most; more would make one request hold the database for too long. */
export const MAX_PAGE_SIZE = 100;

/** How one list is paged. */
export type ListRules = {
  /** The name of its order, part of its cursors: a cursor of another order is refused. */
  order: string;
  /** Which end a request begins at that names neither. */
  startsAt: "first" | "last";
  /** Rows when the request does not say. */
  defaultSize: number;
  /** What keys and ids in its cursors look like; anything else never came from us. */
  keyForm: RegExp;
  idForm: RegExp;
  /** Rows of one page at most; absent = 100. */
  maxSize?: number;
};

const NUMBER = /^\d{1,18}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const USERNAME_KEY = /^(?:(?!00)[0-9a-f]{2}){1,400}$/;

/** Newest first, by a timestamp in microseconds and a uuid. */
export function newestFirst(order: string): ListRules {
  return { order, startsAt: "first", defaultSize: 25, keyForm: NUMBER, idForm: UUID };
}

/** By a unique username, which the key holds in hexadecimal, and a uuid. */
export function byUsername(order: string): ListRules {
  return { order, startsAt: "first", defaultSize: 25, keyForm: USERNAME_KEY, idForm: UUID };
}

/** Oldest first, read from the end. */
export const MESSAGE_LIST: ListRules = {
  order: "messages",
  startsAt: "last",
  defaultSize: 50,
  keyForm: NUMBER,
  idForm: NUMBER,
};

/** Newest first, by id. */
export const AUDIT_LOG_LIST: ListRules = {
  order: "audit-log",
  startsAt: "first",
  defaultSize: 25,
  keyForm: NUMBER,
  idForm: NUMBER,
};

/** Newest first, by id. A row may have hundreds of kilobytes. */
export const MODEL_CALL_LIST: ListRules = {
  order: "model-calls",
  startsAt: "first",
  defaultSize: 5,
  maxSize: 20,
  keyForm: NUMBER,
  idForm: NUMBER,
};

type PageArguments = {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
};

/** Throws BAD_USER_INPUT that states the rule when the arguments break one. */
export function toPageRequest(rules: ListRules, args: PageArguments): PageRequest {
  const { first, last } = args;
  if (first != null && last != null) throw badInput("Give either first or last, not both.");
  const startsAt = first != null ? "first" : last != null ? "last" : rules.startsAt;
  const limit = first ?? last ?? rules.defaultSize;
  const { maxSize = MAX_PAGE_SIZE } = rules;
  if (limit < 1 || limit > maxSize) {
    throw badInput(`${startsAt} must be between 1 and ${maxSize}, but is ${limit}.`);
  }
  return {
    direction: startsAt === "first" ? "forwards" : "backwards",
    limit,
    after: placeOf(rules, "after", args.after),
    before: placeOf(rules, "before", args.before),
  };
}

function placeOf(rules: ListRules, field: string, cursor: string | null | undefined): Place | null {
  if (cursor == null) return null;
  const place = decodePageCursor(rules.order, cursor);
  if (place && rules.keyForm.test(place.key) && rules.idForm.test(place.id)) return place;
  throw badInput(`${field} must be a cursor of this list in this order, as its edges and pageInfo give it.`);
}

export function toConnection<Row, Node>(
  rules: ListRules,
  page: Page<Row>,
  shape: (row: Row) => Node,
): Connection<Node> {
  const edges = page.rows.map(({ place, row }) => ({
    cursor: encodePageCursor(rules.order, place.key, place.id),
    node: shape(row),
  }));
  return {
    edges,
    nodes: edges.map((edge) => edge.node),
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasPreviousPage: page.hasPreviousPage,
      hasNextPage: page.hasNextPage,
    },
  };
}
