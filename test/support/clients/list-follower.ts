// Chat list of a user on a running server: reads it on demand, and follows it over its own socket.
import { type Client, createClient } from "graphql-ws";
import { WebSocket } from "ws";
import type { ApiClient } from "./api-client.js";

const LIST_EVENTS_DOCUMENT = `subscription ($after: String) {
  chatListEvents(after: $after) {
    __typename
    ... on StreamEvent { cursor }
    ... on ChatListRefreshEvent { refreshReason: reason }
    ... on ChatListCaughtUpEvent { replayedEvents }
    ... on ChatCreatedEvent { chat { id title status isUnread } }
    ... on ChatRemovedEvent { chatId reason: removalReason }
    ... on ChatTitleChangedEvent { title chat { id } }
    ... on ChatDiffStatusChangedEvent {
      diffStatus { additions headBranch isStale pullRequest { number state hasChangesRequested } } chat { id } }
    ... on ChatStatusChangedEvent { status isUnread chat { id title archivedAt } }
  }
}`;

/** A chat's branch, as a list shows it. */
export type ListedBranch = {
  additions: number;
  headBranch: string | null;
  isStale: boolean;
  pullRequest: { number: number; state: string; hasChangesRequested: boolean } | null;
};

export type Row = { id: string; title: string; status: string; isUnread: boolean };
type ListEvent = { cursor: string } & (
  | { __typename: "ChatListRefreshEvent"; refreshReason: string }
  | { __typename: "ChatListCaughtUpEvent"; replayedEvents: number }
  | { __typename: "ChatCreatedEvent"; chat: Row }
  | { __typename: "ChatRemovedEvent"; chatId: string; reason: string }
  | { __typename: "ChatTitleChangedEvent"; title: string; chat: { id: string } }
  | { __typename: "ChatDiffStatusChangedEvent"; diffStatus: ListedBranch | null; chat: { id: string } }
  | {
      __typename: "ChatStatusChangedEvent";
      status: string;
      isUnread: boolean;
      chat: { id: string; title: string; archivedAt: string | null };
    }
);

type Page = { chats: { nodes: Row[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } };
const PAGE = `query ($filter: ChatFilterInput, $after: String) {
  chats(filter: $filter, first: 100, after: $after) {
    nodes { id title status isUnread } pageInfo { hasNextPage endCursor } } }`;

/** The viewer's whole list as the API returns it. */
export async function readList(api: ApiClient, filter: object = {}): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (let after: string | null = null; ;) {
    const { chats }: Page = await api.get<Page>(PAGE, { filter, after });
    for (const row of chats.nodes) rows.set(row.id, row);
    if (!chats.pageInfo.hasNextPage) return rows;
    after = chats.pageInfo.endCursor;
  }
}

export class ListFollower {
  readonly #client: Client;
  #waiters: { isSo: () => boolean; resolve: () => void; reject: (reason: unknown) => void }[] = [];
  rows = new Map<string, Row>();
  cursor: string | null;
  /** Statuses of chats' branches as received, in order. */
  readonly branches: { chatId: string; branch: ListedBranch | null }[] = [];
  /** The events in words. */
  readonly story: string[] = [];
  readonly ended: Promise<unknown>;

  constructor(
    private readonly api: ApiClient,
    from: { cursor: string | null; rows?: Map<string, Row> } = { cursor: null },
  ) {
    this.cursor = from.cursor;
    this.rows = new Map(from.rows);
    this.#client = createClient({
      url: `${api.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: api.token },
      retryAttempts: 0,
      lazyCloseTimeout: 0,
    });
    this.ended = this.#read();
  }

  /** Resolves as soon as the condition holds; rejects when the stream ends before. */
  until(isSo: (follower: ListFollower) => boolean): Promise<void> {
    if (isSo(this)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ isSo: () => isSo(this), resolve, reject }));
  }

  /** Checks that the followed list equals the one that the API returns. */
  async untilTrue(): Promise<void> {
    const truth = await readList(this.api);
    const sorted = (rows: Map<string, Row>) => JSON.stringify([...rows.values()].sort(byId));
    await this.until(({ rows }) => sorted(rows) === sorted(truth));
  }

  async close(): Promise<this> {
    await this.#client.dispose();
    await this.ended;
    return this;
  }

  async #read(): Promise<void> {
    let reason: unknown = "The stream was completed.";
    try {
      const variables = { after: this.cursor };
      const events = this.#client.iterate<{ chatListEvents: ListEvent }>({
        query: LIST_EVENTS_DOCUMENT,
        variables,
      });
      for await (const { data, errors } of events) {
        if (!data) throw new Error(JSON.stringify(errors));
        await this.#take(data.chatListEvents);
        const done = this.#waiters.filter(({ isSo }) => isSo());
        this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
        for (const { resolve } of done) resolve();
      }
    } catch (error) {
      reason = error;
    }
    for (const { reject } of this.#waiters.splice(0)) reject(reason);
  }

  async #take(event: ListEvent): Promise<void> {
    this.cursor = event.cursor;
    switch (event.__typename) {
      case "ChatListRefreshEvent":
        this.story.push(`refresh ${event.refreshReason}`);
        this.rows = await readList(this.api);
        return;
      case "ChatListCaughtUpEvent":
        this.story.push(`caught-up ${event.replayedEvents}`);
        return;
      case "ChatCreatedEvent":
        this.story.push("created");
        this.rows.set(event.chat.id, event.chat);
        return;
      case "ChatRemovedEvent":
        this.story.push(`removed ${event.reason}`);
        this.rows.delete(event.chatId);
        return;
      case "ChatTitleChangedEvent":
        this.story.push(`title ${event.title}`);
        return this.#change(event.chat.id, { title: event.title });
      case "ChatDiffStatusChangedEvent":
        this.branches.push({ chatId: event.chat.id, branch: event.diffStatus });
        return;
      case "ChatStatusChangedEvent": {
        const { status, isUnread } = event;
        this.story.push(`${status}${isUnread ? " unread" : ""}`);
        const { id, title, archivedAt } = event.chat;
        // A chat that moved from page to page while the list was read may be in none of them.
        if (archivedAt === null && !this.rows.has(id)) this.rows.set(id, { id, title, status, isUnread });
        return this.#change(id, { status, isUnread });
      }
    }
  }

  #change(id: string, changes: Partial<Row>): void {
    const row = this.rows.get(id);
    if (row) this.rows.set(id, { ...row, ...changes });
  }
}

function byId(a: Row, b: Row): number {
  return a.id < b.id ? -1 : 1;
}
