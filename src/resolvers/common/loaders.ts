/** Batched reads: all objects of a kind that one step of an operation selects are read with one statement. */
import DataLoader from "dataloader";
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { DiffStatusView } from "../../domain/git/branch-facts.js";
import type { McpAccountState } from "../../domain/mcp/types.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { type ChatRecord, findChats, findSubagents } from "../../store/chats/chats.js";
import { readChatSpending, type SpendingOfModel } from "../../store/usage/costs.js";
import type { ReadKind } from "../../store/users/admin-reads.js";
import type { Queryable } from "../../store/common/database.js";
import { readDiffStatuses } from "../../store/git/diff-statuses.js";
import { findFiles, type ReadyFile } from "../../store/files/files.js";
import { findLastAnswers } from "../../store/chats/last-answers.js";
import { findVisibleMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import {
  type LastUsage,
  MAX_PAGE_BYTES,
  findMessages,
  readLastUsages,
  readMessagePages,
} from "../../store/chats/messages.js";
import {
  type ModelConfigRecord,
  type ProviderRecord,
  findModelConfigsByIds,
  findProvidersByIds,
  listConfigsOfProviders,
} from "../../store/models/models.js";
import { listProvidersWithKey } from "../../store/models/provider-keys.js";
import type { Page, PageRequest } from "../../store/common/pages.js";
import {
  findQueuedMessages,
  type FullQueuedRow,
  listQueues,
  readFullQueued,
} from "../../store/chats/queue.js";
import type { Sized } from "../../store/common/sized-rows.js";
import { readStoredUsages, type StoredUsage } from "../../store/files/storage.js";
import { findUnread } from "../../store/chats/unread.js";
import { type UserRecord, findUsersByIds } from "../../store/users/users.js";
import { type WorkspaceTemplateRecord, findTemplates } from "../../store/workspaces/workspace-templates.js";
import { type WorkspaceRecord, findWorkspaces } from "../../store/workspaces/workspaces.js";
import { type ResponseBudget, responseTooLarge } from "./response-budget.js";

/** Account states by server ID, with an entry for every given server. */
export type ReadMcpAccountStates = (
  servers: readonly McpServerRecord[],
  userId: string,
) => Promise<ReadonlyMap<string, McpAccountState>>;

/** Records an admin's reads of other users' objects in the audit log. Must be awaited before they are returned. */
export type NoteReads = (kind: ReadKind, ids: readonly string[]) => Promise<void>;

export type LoaderParts = {
  database: Queryable;
  viewer: Viewer;
  readMcpAccountStates: ReadMcpAccountStates;
  noteReads: NoteReads;
  /** Messages that are read count towards it. */
  budget: ResponseBudget;
};

/** Loads null for objects that do not exist or are not visible to the viewer. */
type ById<T> = DataLoader<string, T | null>;
type MessagePageKey = { chatId: string; page: PageRequest };

/** Concurrent statements for pages of messages per response, each reading up to `MAX_PAGE_BYTES` plus one message. */
const PAGES_AT_ONCE = 2;

/**
 * The loaders of one operation, created on first use, so that an event that needs none costs nothing. They cache, so a
 * context lives only as long as one response; call `forget` after a write within it.
 */
export class Loaders {
  /** Null until the first loader is created: most events need none. */
  #made: Map<string, unknown> | null = null;

  constructor(private readonly parts: LoaderParts) {}

  /** Drops all caches. */
  forget(): void {
    this.#made = null;
  }

  get chats(): ById<ChatRecord> {
    return this.#once("chats", () =>
      byId(async (ids) =>
        this.#noted("chat", await findChats(this.parts.database, this.parts.viewer, ids), ({ id }) => id),
      ),
    );
  }

  /** Subagents of each chat, oldest first. For chats visible to the viewer. */
  get subagents(): DataLoader<string, ChatRecord[]> {
    return this.#once("subagents", () =>
      byOwner(async (ids) => {
        const found = new Map(ids.map((id) => [id, [] as ChatRecord[]]));
        const rows = await findSubagents(this.parts.database, this.parts.viewer, ids);
        for (const row of await this.#noted("chat", rows, ({ id }) => id))
          found.get(row.parentChatId ?? "")?.push(row);
        return found;
      }),
    );
  }

  get messages(): ById<MessageRow> {
    return this.#once("messages", () =>
      byId(async (ids) => {
        const read = await findMessages(this.parts.database, this.parts.viewer, ids, this.parts.budget.left);
        return this.#noted("chat", this.#counted(read), chatOf);
      }),
    );
  }

  get queuedMessages(): ById<QueuedRow> {
    return this.#once("queued", () =>
      byId(async (ids) =>
        this.#noted("chat", await findQueuedMessages(this.parts.database, this.parts.viewer, ids), chatOf),
      ),
    );
  }

  /** Complete parts of queued messages of which only a preview was read. */
  get queuedContents(): DataLoader<string, MessagePart[] | null> {
    return this.#once(
      "queued-contents",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const read = await readFullQueued(
            this.parts.database,
            this.parts.viewer,
            ids,
            this.parts.budget.left,
          );
          const rows: FullQueuedRow[] = await this.#noted("chat", this.#counted(read), chatOf);
          const found = new Map(rows.map(({ id, parts }) => [id, parts]));
          return ids.map((id) => found.get(id) ?? null);
        }),
    );
  }

  get workspaces(): ById<WorkspaceRecord> {
    return this.#once("workspaces", () =>
      byId((ids) => findWorkspaces(this.parts.database, this.parts.viewer, ids)),
    );
  }

  get workspaceTemplates(): ById<WorkspaceTemplateRecord> {
    return this.#once("workspaceTemplates", () => byId((ids) => findTemplates(this.parts.database, ids)));
  }

  get files(): ById<ReadyFile> {
    return this.#once("files", () =>
      byId(async (ids) =>
        this.#noted("file", await findFiles(this.parts.database, this.parts.viewer, ids), ({ id }) => id),
      ),
    );
  }

  get mcpServers(): ById<McpServerRecord> {
    return this.#once("mcp-servers", () =>
      byId((ids) => findVisibleMcpServers(this.parts.database, this.parts.viewer, ids)),
    );
  }

  /** State of the viewer's account on each server. For servers visible to the viewer. */
  get mcpAccounts(): DataLoader<string, McpAccountState> {
    return this.#once(
      "mcp-accounts",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await this.mcpServers.loadMany(ids);
          const servers = found.flatMap((server) =>
            server === null || server instanceof Error ? [] : [server],
          );
          const accountStates = await this.parts.readMcpAccountStates(servers, this.parts.viewer.userId);
          return ids.map((id) => demand(accountStates.get(id)));
        }),
    );
  }

  /** Storage used by users, and limits of their own. Callers must check that the viewer may see them. */
  get storedUsages(): DataLoader<string, StoredUsage> {
    return this.#once(
      "stored-usages",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await readStoredUsages(this.parts.database, ids);
          return ids.map((id) => demand(found.get(id)));
        }),
    );
  }

  /** Diff status of each chat's branch; null for chats without one. For chats visible to the viewer. */
  get diffStatuses(): DataLoader<string, DiffStatusView | null> {
    return this.#once(
      "diff-statuses",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await readDiffStatuses(this.parts.database, ids);
          return ids.map((id) => found.get(id) ?? null);
        }),
    );
  }

  /** The model's last response in each chat. For chats visible to the viewer. */
  get lastAnswers(): DataLoader<string, MessagePart[] | null> {
    return this.#once(
      "last-answers",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await findLastAnswers(this.parts.database, ids);
          return ids.map((id) => found.get(id) ?? null);
        }),
    );
  }

  /** Whether each chat has a response its owner has not seen. For chats visible to the viewer. */
  get unread(): DataLoader<string, boolean> {
    return this.#once(
      "unread",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await findUnread(this.parts.database, ids);
          return ids.map((id) => found.has(id));
        }),
    );
  }

  /** Token usage of each chat's newest model call since its last summary. For chats visible to the viewer. */
  get lastUsages(): DataLoader<string, LastUsage | null> {
    return this.#once(
      "last-usages",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await readLastUsages(this.parts.database, ids);
          return ids.map((id) => found.get(id) ?? null);
        }),
    );
  }

  /** Cost of each chat by model. For chats visible to the viewer. */
  get chatSpending(): DataLoader<string, SpendingOfModel[]> {
    return this.#once("chat-spending", () => byOwner((ids) => readChatSpending(this.parts.database, ids)));
  }

  /** Any user, without a check of rights: for links from objects visible to the viewer. */
  get users(): ById<UserRecord> {
    return this.#once("users", () => byId((ids) => findUsersByIds(this.parts.database, ids)));
  }

  get modelConfigs(): ById<ModelConfigRecord> {
    return this.#once("configs", () => byId((ids) => findModelConfigsByIds(this.parts.database, ids)));
  }

  get providers(): ById<ProviderRecord> {
    return this.#once("providers", () => byId((ids) => findProvidersByIds(this.parts.database, ids)));
  }

  /** Whether the viewer has their own key, by provider. */
  get hasProviderKey(): DataLoader<string, boolean> {
    return this.#once(
      "provider-keys",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await listProvidersWithKey(this.parts.database, this.parts.viewer.userId);
          return ids.map((id) => found.has(id));
        }),
    );
  }

  get configsOfProviders(): DataLoader<string, ModelConfigRecord[]> {
    return this.#once("configs-of-providers", () =>
      byOwner((ids) => listConfigsOfProviders(this.parts.database, ids)),
    );
  }

  /** Complete queues by chat. For chats visible to the viewer. */
  get queues(): DataLoader<string, QueuedRow[]> {
    return this.#once("queues", () => byOwner((ids) => listQueues(this.parts.database, ids)));
  }

  /** Pages of messages. For chats visible to the viewer. */
  get messagePages(): DataLoader<MessagePageKey, Page<MessageRow>, string> {
    return this.#once(
      "pages",
      () =>
        new DataLoader((keys) => this.#readPages(keys), {
          cacheKeyFn: (key: MessagePageKey) => JSON.stringify(key),
        }),
    );
  }

  async #readPages(keys: readonly MessagePageKey[]): Promise<Page<MessageRow>[]> {
    const groups = new Map<string, { page: PageRequest; chatIds: string[] }>();
    for (const { chatId, page } of keys) {
      const name = JSON.stringify(page);
      const group = groups.get(name) ?? { page, chatIds: [] };
      group.chatIds.push(chatId);
      groups.set(name, group);
    }
    const found = new Map<string, Map<string, Page<MessageRow>>>();
    const waiting = [...groups];
    // Only as many at once as are sure to fit into the budget.
    while (waiting.length > 0) {
      const reads = waiting.splice(0, PAGES_AT_ONCE).map(async ([name, { page, chatIds }]) => {
        const pageBytes = Math.min(MAX_PAGE_BYTES, Math.floor(this.parts.budget.left / 2 / chatIds.length));
        const bounds = { pageBytes, allBytes: this.parts.budget.left };
        found.set(name, this.#counted(await readMessagePages(this.parts.database, chatIds, page, bounds)));
      });
      await Promise.all(reads);
    }
    return keys.map(({ chatId, page }) => demand(found.get(JSON.stringify(page))?.get(chatId)));
  }

  /** Returns what was read, if it is within the response's budget. */
  #counted<T>(read: Sized<T> | null): T {
    if (!read) throw responseTooLarge(this.parts.budget.maxBytes);
    this.parts.budget.take(read.bytes);
    return read.found;
  }

  /** Returns the rows once reads of other users' rows are recorded. */
  async #noted<T extends { ownerId: string }>(
    kind: ReadKind,
    rows: T[],
    idOf: (row: T) => string,
  ): Promise<T[]> {
    const others = rows.filter(({ ownerId }) => ownerId !== this.parts.viewer.userId);
    if (others.length > 0) await this.parts.noteReads(kind, others.map(idOf));
    return rows;
  }

  #once<T>(name: string, make: () => T): T {
    this.#made ??= new Map();
    if (!this.#made.has(name)) this.#made.set(name, make());
    return this.#made.get(name) as T;
  }
}

const chatOf = ({ chatId }: { chatId: string }) => chatId;

function byId<T extends { id: string }>(read: (ids: readonly string[]) => Promise<T[]>): ById<T> {
  return new DataLoader(async (ids: readonly string[]) => {
    const found = new Map((await read(ids)).map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  });
}

function byOwner<T>(read: (ids: readonly string[]) => Promise<Map<string, T>>): DataLoader<string, T> {
  return new DataLoader(async (ids: readonly string[]) => {
    const found = await read(ids);
    return ids.map((id) => demand(found.get(id)));
  });
}

function demand<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("A batch loader returned no entry for a requested key.");
  return value;
}
