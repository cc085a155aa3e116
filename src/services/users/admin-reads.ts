/**
 * Audits admins' reads of other users' data: once an hour per admin and object, across all replicas. Recent entries are
 * cached, so that subscriptions and pagination do not execute a statement each time; owners' reads never do.
 */
import { LRUCache } from "lru-cache";
import type { AuditAction } from "../../domain/users/audit.js";
import { encodeId, type IdKind } from "../../domain/common/ids.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import { noteAdminReads, type ReadKind } from "../../store/users/admin-reads.js";
import { recordAudit } from "../../store/users/audit-log.js";
import type { Database } from "../../store/common/database.js";

/** Well below the hour after which the database writes the next entry. */
const CACHED_MS = 5 * 60_000;
const MAX_CACHED = 10_000;

const ACTIONS = {
  chat: "chat_read",
  file: "file_read",
  user: "chats_listed",
  calls: "model_calls_read",
} as const satisfies Record<ReadKind, AuditAction>;

/** The kind of the ids of each read. */
const ID_KINDS = { chat: "chat", file: "file", user: "user", calls: "chat" } as const satisfies Record<
  ReadKind,
  IdKind
>;

export class AdminReads {
  readonly #recent: LRUCache<string, true>;

  constructor(private readonly dependencies: { database: Database; clock: Clock }) {
    this.#recent = new LRUCache({
      max: MAX_CACHED,
      ttl: CACHED_MS,
      ttlResolution: 0,
      perf: dependencies.clock,
    });
  }

  /**
   * Must be awaited before anything is returned, so that nothing is read without its entry. Does nothing for users
   * other than admins, and for objects that are their own or deleted. `user`: whose chats were listed; `calls`: of
   * which chat.
   */
  async note(actor: Actor, kind: ReadKind, ids: readonly string[]): Promise<void> {
    if (actor.role !== "admin") return;
    const keyOf = (id: string) => `${actor.userId} ${kind} ${id}`;
    const wanted = [...new Set(ids)].filter((id) => !this.#recent.has(keyOf(id)));
    if (wanted.length === 0) return;
    await this.dependencies.database.transaction(async (transaction) => {
      const noted = await noteAdminReads(transaction, actor.userId, { kind, ids: wanted });
      const { userId, username: name, requestId } = actor;
      for (const target of noted) {
        const targetId = encodeId(ID_KINDS[kind], target.id);
        const entry = { action: ACTIONS[kind], targetId, targetName: target.name, changes: {} };
        await recordAudit(transaction, { userId, name, requestId }, entry);
      }
    });
    for (const id of wanted) this.#recent.set(keyOf(id), true);
  }
}
