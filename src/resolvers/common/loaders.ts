/** Reads of single objects, gathered: all that one step of an operation asks for is one statement per kind. */
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
import { type AnswerBudget, answerTooLarge } from "./answer-budget.js";

/** By the server's id, of all that are given. */
export type ReadMcpAccountStates = (
  servers: readonly McpServerRecord[],
  userId: string,
) => Promise<ReadonlyMap<string, McpAccountState>>;

/** Puts into the audit log what an admin reads of others; to be awaited before it is shown. */
export type NoteReads = (kind: ReadKind, ids: readonly string[]) => Promise<void>;

export type LoaderParts = {
  database: Queryable;
  viewer: Viewer;
  readMcpAccountStates: ReadMcpAccountStates;
  noteReads: NoteReads;
  /** What is read of messages counts to it. */
  budget: AnswerBudget;
};

/** Gives null for what does not exist or is not the viewer's to see. */
type ById<T> = DataLoader<string, T | null>;
type MessagePageKey = { chatId: string; page: PageRequest };

/** Statements for pages of messages that one answer has running, each of up to `MAX_PAGE_BYTES` and one message more. */
const PAGES_AT_ONCE = 2;

/**
 * One operation's loaders, each made when first used: an event that needs none costs nothing. They remember, so a
 * context lives as long as one answer; after a write within it call `forget`.
 */
export class Loaders {
  /** Made with the first loader: most events need none. */
  #made: Map<string, unknown> | null = null;

  constructor(private readonly parts: LoaderParts) {}

  /** Everything will be read anew. */
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

  /** Those that each chat's agent has started, the oldest first; for chats that the viewer may see. */
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

  /** The whole of messages of which only previews are known. */
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

  /** How the viewer stands with each server, for servers that they may see. */
  get mcpStandings(): DataLoader<string, McpAccountState> {
    return this.#once(
      "mcp-accountStates",
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

  /** What users store, and limits of their own; whether the viewer may know is the caller's to check. */
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

  /** How each chat's branch stands at its git host, for chats that the viewer may see; null for those without one. */
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

  /** What the model said last in each chat, for chats that the viewer may see. */
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

  /** Whether each chat's owner has not seen its newest answer; for chats that the viewer may see. */
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

  /** What each chat's newest model call used, since its last summary; for chats that the viewer may see. */
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

  /** What each chat has cost, by model; for chats that the viewer may see. */
  get chatSpending(): DataLoader<string, SpendingOfModel[]> {
    return this.#once("chat-spending", () => byOwner((ids) => readChatSpending(this.parts.database, ids)));
  }

  /** Anybody: for links from what the viewer may see. */
  get users(): ById<UserRecord> {
    return this.#once("users", () => byId((ids) => findUsersByIds(this.parts.database, ids)));
  }

  get modelConfigs(): ById<ModelConfigRecord> {
    return this.#once("configs", () => byId((ids) => findModelConfigsByIds(this.parts.database, ids)));
  }

  get providers(): ById<ProviderRecord> {
    return this.#once("providers", () => byId((ids) => findProvidersByIds(this.parts.database, ids)));
  }

  /** Whether the viewer has an own key, by provider. */
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

  /** Whole queues by chat, for chats that the viewer may see. */
  get queues(): DataLoader<string, QueuedRow[]> {
    return this.#once("queues", () => byOwner((ids) => listQueues(this.parts.database, ids)));
  }

  /** Pages of history, for chats that the viewer may see. */
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
    // As many at once as surely fit.
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

  /** What was read, when it is within the answer's budget. */
  #counted<T>(read: Sized<T> | null): T {
    if (!read) throw answerTooLarge(this.parts.budget.maxBytes);
    this.parts.budget.take(read.bytes);
    return read.found;
  }

  /** The same rows, when those of others are noted. */
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
  if (value === undefined) throw new Error("A batch of reads left out what was asked for.");
  return value;
}
