/** The pagination rules of all connections: page sizes, direction and cursors. */
import { decodePageCursor, encodePageCursor } from "../../domain/common/cursors.js";
import type { Connection } from "../../schema/common/connection.js";
import type { Page, PageRequest, CursorKey } from "../../store/common/pages.js";
import { badInput } from "./errors.js";

/** Maximum rows per page; more would occupy the database for too long. */
export const MAX_PAGE_SIZE = 100;

/** The pagination rules of one list. */
export type ListRules = {
  /** The name of its sort order, part of its cursors: a cursor of another order is rejected. */
  order: string;
  /** The end to start from if the request has neither `first` nor `last`. */
  startsAt: "first" | "last";
  /** The default page size. */
  defaultSize: number;
  /** Formats of the sort key and ID in its cursors. */
  keyForm: RegExp;
  idForm: RegExp;
  /** Maximum rows per page; 100 by default. */
  maxSize?: number;
};

const NUMBER = /^\d{1,18}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const USERNAME_KEY = /^(?:(?!00)[0-9a-f]{2}){1,400}$/;

/** Newest first, by a timestamp in microseconds and a UUID. */
export function newestFirst(order: string): ListRules {
  return { order, startsAt: "first", defaultSize: 25, keyForm: NUMBER, idForm: UUID };
}

/** By a unique username, hexadecimal in the key, and a UUID. */
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

/** Newest first, by ID. */
export const AUDIT_LOG_LIST: ListRules = {
  order: "audit-log",
  startsAt: "first",
  defaultSize: 25,
  keyForm: NUMBER,
  idForm: NUMBER,
};

/** Newest first, by ID. A row may have hundreds of kilobytes. */
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

/** Throws BAD_USER_INPUT if the arguments are invalid. */
export function toPageRequest(rules: ListRules, args: PageArguments): PageRequest {
  const { first, last } = args;
  if (first != null && last != null) throw badInput("Pass either first or last, not both.");
  const startsAt = first != null ? "first" : last != null ? "last" : rules.startsAt;
  const limit = first ?? last ?? rules.defaultSize;
  const { maxSize = MAX_PAGE_SIZE } = rules;
  if (limit < 1 || limit > maxSize) {
    throw badInput(`${startsAt} must be between 1 and ${maxSize}, but is ${limit}.`);
  }
  return {
    direction: startsAt === "first" ? "forwards" : "backwards",
    limit,
    after: cursorKeyOf(rules, "after", args.after),
    before: cursorKeyOf(rules, "before", args.before),
  };
}

function cursorKeyOf(rules: ListRules, field: string, cursor: string | null | undefined): CursorKey | null {
  if (cursor == null) return null;
  const key = decodePageCursor(rules.order, cursor);
  if (key && rules.keyForm.test(key.key) && rules.idForm.test(key.id)) return key;
  throw badInput(`${field} must be a cursor of this list with this sort order, from its edges or pageInfo.`);
}

export function toConnection<Row, Node>(
  rules: ListRules,
  page: Page<Row>,
  shape: (row: Row) => Node,
): Connection<Node> {
  const edges = page.rows.map(({ cursor, row }) => ({
    cursor: encodePageCursor(rules.order, cursor.key, cursor.id),
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
