/**
 * Bytes of files, wherever they are: new ones go into the object store when the server has one, else into the database;
 * old ones are read from where they are. What is put into the object store is written down before, so that nothing is
 * left there when a server dies in between.
 */
import { createHash, randomUUID } from "node:crypto";
import { type FileContent, verifyContent } from "../../domain/files/file-content.js";
import { typeByBeginning } from "../../domain/files/file-types.js";
import type { StoredFile } from "../../domain/chats/message-parts.js";
import type { ObjectStore } from "../../domain/files/object-store.js";
import type { ToolFile } from "../../domain/chats/tool-outcome.js";
import type { Clock } from "../../lib/clock.js";
import { contentOf } from "../../lib/file-content.js";
import type { Log } from "../../lib/log.js";
import { attachFiles } from "../../store/files/chat-files.js";
import type { Database } from "../../store/common/database.js";
import type { StorageLimits } from "./storage-limits.js";
import { claimObjects, expectObject } from "../../store/files/file-sweep.js";
import { type FileRecord, insertFile, readFileContents, readFileSlice } from "../../store/files/files.js";
import { finishUpload, findUpload } from "../../store/files/uploads.js";

/** Far longer than it takes to put an object and to save its row. */
const CLAIM_WITHIN_MS = 3_600_000;

export type FileStorageDependencies = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null: bytes go into the database. */
  objects: ObjectStore | null;
  /** What users may store. */
  storage: Pick<StorageLimits, "demand">;
};

/**
 * `refused`: `message` is worded for the person. `taken`: other bytes came for it before. `gone`: nobody waits for it.
 * `unavailable`: the object store did not take it, which is in the log.
 */
export type UploadOutcome =
  | { outcome: "kept"; file: FileRecord }
  | { outcome: "refused"; message: string }
  | { outcome: "taken" }
  | { outcome: "gone" }
  | { outcome: "unavailable" };

type Placed = { content: Uint8Array; objectKey: null } | { content: null; objectKey: string };

export class KeptFiles {
  constructor(private readonly dependencies: FileStorageDependencies) {}

  /**
   * Keeps what a tool gave as files of the chat, all or none, in their order. Rejects with `StorageLimitExceeded` or
   * `StorageFull` when the owner, or the server, may not store that much more.
   */
  async keep(
    { chatId, ownerId }: { chatId: string; ownerId: string },
    files: readonly ToolFile[],
  ): Promise<StoredFile[]> {
    if (files.length === 0) return [];
    const { database, clock } = this.dependencies;
    const now = clock.now();
    const placed = await Promise.all(
      files.map(async ({ name, mediaType, bytes }) => {
        const file = { id: randomUUID(), name, mediaType, sizeBytes: bytes.length };
        return { ...file, ...(await this.#place(file, bytes)), ownerId, sha256: sha256(bytes), now };
      }),
    );
    // Apart from what follows: their bytes travel while nobody waits for the chat's row.
    await database.transaction(async (transaction) => {
      const addedBytes = placed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      await this.dependencies.storage.demand(transaction, ownerId, addedBytes);
      for (const file of placed) await insertFile(transaction, file);
      await claimObjects(transaction, placed.flatMap(keysOf));
    });
    const ids = placed.map(({ id }) => id);
    const gone = await database.transaction((transaction) => attachFiles(transaction, { chatId, ids, now }));
    if (gone.length > 0)
      this.dependencies.log.info({ chatId, files: gone.length }, "A chat's oldest files made room");
    return placed.map(({ id: fileId, name, mediaType, sizeBytes }) => ({
      fileId,
      name,
      mediaType,
      sizeBytes,
    }));
  }

  /** The bytes of those of the files that are in the chat; what is missing or cannot be had is not in the map. */
  async contents(chatId: string, ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const rows = await readFileContents(this.dependencies.database, chatId, ids);
    const found = await Promise.all(
      rows.map(async ({ id, sizeBytes, content, objectKey }) => {
        if (objectKey === null) return content === null ? [] : [[id, content] as const];
        const bytes = await this.#fetch(id, objectKey, { first: 0, length: sizeBytes }).catch(() => null);
        return bytes === null || bytes.length < sizeBytes ? [] : [[id, bytes] as const];
      }),
    );
    return new Map(found.flat());
  }

  /** Whether this server can read what is kept there. What it cannot read is in the log. */
  canRead({ id, objectKey }: { id: string; objectKey: string | null }): boolean {
    if (objectKey === null || this.dependencies.objects) return true;
    this.dependencies.log.error({ fileId: id }, NO_OBJECT_STORE);
    return false;
  }

  /** At most `length` bytes from `first` on; none when the file has gone or ends there. */
  async slice(id: string, first: number, length: number): Promise<Uint8Array> {
    const found = await readFileSlice(this.dependencies.database, { id, first, length });
    if (found === null) return new Uint8Array();
    return "slice" in found ? found.slice : this.#fetch(id, found.objectKey, { first, length });
  }

  /** The bytes of an upload have come. The same bytes once more change nothing. */
  async finish(id: string, bytes: Uint8Array): Promise<UploadOutcome> {
    const { database, clock } = this.dependencies;
    const upload = await findUpload(database, id);
    if (upload === null) return { outcome: "gone" };
    const digest = sha256(bytes);
    if (upload.sha256 !== null) return repeated(upload, upload.sha256, digest);
    const verdict = verifyContent(upload.mediaType, await contentOfFile(bytes));
    if ("refused" in verdict) return { outcome: "refused", message: verdict.refused };
    const { mediaType } = verdict;
    const placed = await this.#place({ id, mediaType }, bytes).catch((error: unknown) => {
      this.dependencies.log.error({ err: error, fileId: id }, "The object store did not take a file");
      return null;
    });
    if (placed === null) return { outcome: "unavailable" };
    const isFirst = await database.transaction(async (transaction) => {
      const finished = { id, mediaType, sha256: digest, ...placed, now: clock.now() };
      if (!(await finishUpload(transaction, finished))) return false;
      await claimObjects(transaction, keysOf(placed));
      return true;
    });
    const { name, sizeBytes } = upload;
    if (isFirst) return { outcome: "kept", file: { id, name, mediaType, sizeBytes } };
    const other = await findUpload(database, id);
    return other?.sha256 ? repeated(other, other.sha256, digest) : { outcome: "gone" };
  }

  // ── how ──────────────────────────────────────────────────────────────────

  async #place({ id, mediaType }: { id: string; mediaType: string }, bytes: Uint8Array): Promise<Placed> {
    const { objects, database, clock } = this.dependencies;
    if (objects === null) return { content: bytes, objectKey: null };
    // Each try has its own: two that upload different bytes never write over each other.
    const objectKey = `files/${id}/${randomUUID()}`;
    await expectObject(database, objectKey, clock.now() + CLAIM_WITHIN_MS);
    await objects.put(objectKey, bytes, mediaType);
    return { content: null, objectKey };
  }

  /** Rejects when there is no object store or it fails, which is in the log then. */
  async #fetch(
    id: string,
    key: string,
    { first, length }: { first: number; length: number },
  ): Promise<Uint8Array> {
    const { objects, log } = this.dependencies;
    try {
      if (objects === null) throw new Error(NO_OBJECT_STORE);
      return await objects.read(key, first, length);
    } catch (error) {
      log.error({ err: error, fileId: id }, "A file's bytes could not be read");
      throw error;
    }
  }
}

const NO_OBJECT_STORE =
  "The bytes of a file are in an object store, and this server was told of none: set PARLEY_S3_BUCKET as on the others.";

function keysOf({ objectKey }: Placed): string[] {
  return objectKey === null ? [] : [objectKey];
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function repeated(file: FileRecord, known: Buffer, given: Buffer): UploadOutcome {
  const { id, name, mediaType, sizeBytes } = file;
  return known.equals(given)
    ? { outcome: "kept", file: { id, name, mediaType, sizeBytes } }
    : { outcome: "taken" };
}

/** What is shown to models and in browsers goes by its first bytes; the rest by all that is known of signatures. */
async function contentOfFile(bytes: Uint8Array): Promise<FileContent> {
  const content = await contentOf(bytes);
  if (content.kind === "text") return content;
  return { kind: "binary", mediaType: typeByBeginning(bytes) ?? content.mediaType };
}
