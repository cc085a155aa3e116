/** Reads of single objects, gathered: all that one step of an operation asks for is one statement per kind. */
import DataLoader from "dataloader";
import type { MessageRow, QueuedRow } from "../domain/chat-events.js";
import type { Viewer } from "../domain/viewer.js";
import { type ChatRecord, findChats } from "../store/chats.js";
import type { Queryable } from "../store/database.js";
import { type FileRecord, findFiles } from "../store/files.js";
import { findLastAnswers } from "../store/last-answers.js";
import { type LastUsage, findMessages, listMessagesOfChats, readLastUsages } from "../store/messages.js";
import {
  type ModelConfigRecord,
  type ProviderRecord,
  findModelConfigsByIds,
  findProvidersByIds,
  listConfigsOfProviders,
} from "../store/models.js";
import type { Page, PageRequest } from "../store/pages.js";
import { findQueuedMessages, listQueues } from "../store/queue.js";
import { findUnread } from "../store/unread.js";
import { type UserRecord, findUsersByIds } from "../store/users.js";
import { type WorkspaceRecord, findWorkspaces } from "../store/workspaces.js";

/** Gives null for what does not exist or is not the viewer's to see. */
type ById<T> = DataLoader<string, T | null>;
type MessagePageKey = { chatId: string; page: PageRequest };

/**
 * One operation's loaders, each made when first used: an event that needs none costs nothing. They remember, so a
 * context lives as long as one answer; after a write within it call `forget`.
 */
export class Loaders {
  /** Made with the first loader: most events need none. */
  #made: Map<string, unknown> | null = null;

  constructor(
    private readonly database: Queryable,
    private readonly viewer: Viewer,
  ) {}

  /** Everything will be read anew. */
  forget(): void {
    this.#made = null;
  }

  get chats(): ById<ChatRecord> {
    return this.#once("chats", () => byId((ids) => findChats(this.database, this.viewer, ids)));
  }

  get messages(): ById<MessageRow> {
    return this.#once("messages", () => byId((ids) => findMessages(this.database, this.viewer, ids)));
  }

  get queuedMessages(): ById<QueuedRow> {
    return this.#once("queued", () => byId((ids) => findQueuedMessages(this.database, this.viewer, ids)));
  }

  get workspaces(): ById<WorkspaceRecord> {
    return this.#once("workspaces", () => byId((ids) => findWorkspaces(this.database, this.viewer, ids)));
  }

  get files(): ById<FileRecord> {
    return this.#once("files", () => byId((ids) => findFiles(this.database, this.viewer, ids)));
  }

  /** What the model said last in each chat, for chats that the viewer may see. */
  get lastAnswers(): DataLoader<string, MessageRow | null> {
    return this.#once(
      "last-answers",
      () =>
        new DataLoader(async (ids: readonly string[]) => {
          const found = await findLastAnswers(this.database, ids);
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
          const found = await findUnread(this.database, ids);
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
          const found = await readLastUsages(this.database, ids);
          return ids.map((id) => found.get(id) ?? null);
        }),
    );
  }

  /** Anybody: for links from what the viewer may see. */
  get users(): ById<UserRecord> {
    return this.#once("users", () => byId((ids) => findUsersByIds(this.database, ids)));
  }

  get modelConfigs(): ById<ModelConfigRecord> {
    return this.#once("configs", () => byId((ids) => findModelConfigsByIds(this.database, ids)));
  }

  get providers(): ById<ProviderRecord> {
    return this.#once("providers", () => byId((ids) => findProvidersByIds(this.database, ids)));
  }

  get configsOfProviders(): DataLoader<string, ModelConfigRecord[]> {
    return this.#once("configs-of-providers", () =>
      byOwner((ids) => listConfigsOfProviders(this.database, ids)),
    );
  }

  /** Whole queues by chat, for chats that the viewer may see. */
  get queues(): DataLoader<string, QueuedRow[]> {
    return this.#once("queues", () => byOwner((ids) => listQueues(this.database, ids)));
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
    const reads = [...groups].map(async ([name, { page, chatIds }]) => {
      found.set(name, await listMessagesOfChats(this.database, chatIds, page));
    });
    await Promise.all(reads);
    return keys.map(({ chatId, page }) => demand(found.get(JSON.stringify(page))?.get(chatId)));
  }

  #once<T>(name: string, make: () => T): T {
    this.#made ??= new Map();
    if (!this.#made.has(name)) this.#made.set(name, make());
    return this.#made.get(name) as T;
  }
}

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
