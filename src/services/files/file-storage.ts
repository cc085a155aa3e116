/**
 * File storage: new files go into the object store if one is configured, else into the database; existing ones are read
 * from where they are. An object's key is recorded before the upload, so that a crash in between leaves no orphan.
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

/** Far longer than uploading an object and saving its row takes. */
const CLAIM_WITHIN_MS = 3_600_000;

export type FileStorageDependencies = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null = bytes go into the database. */
  objects: ObjectStore | null;
  storage: Pick<StorageLimits, "demand">;
};

/**
 * `refused`: `message` is shown to the user. `taken`: other bytes were uploaded before. `gone`: there is no such
 * upload. `unavailable`: the object store failed, which is logged.
 */
export type UploadOutcome =
  | { outcome: "stored"; file: FileRecord }
  | { outcome: "refused"; message: string }
  | { outcome: "taken" }
  | { outcome: "gone" }
  | { outcome: "unavailable" };

type StoredBytes = { content: Uint8Array; objectKey: null } | { content: null; objectKey: string };

export class FileStorage {
  constructor(private readonly dependencies: FileStorageDependencies) {}

  /**
   * Stores a tool's files in the chat, all or none, in their order. Rejects with `StorageLimitExceeded` or
   * `StorageFull` when that exceeds the owner's limit or the server's space.
   */
  async saveToolFiles(
    { chatId, ownerId }: { chatId: string; ownerId: string },
    files: readonly ToolFile[],
  ): Promise<StoredFile[]> {
    if (files.length === 0) return [];
    const { database, clock } = this.dependencies;
    const now = clock.now();
    const stored = await Promise.all(
      files.map(async ({ name, mediaType, bytes }) => {
        const file = { id: randomUUID(), name, mediaType, sizeBytes: bytes.length };
        return { ...file, ...(await this.#storeBytes(file, bytes)), ownerId, sha256: sha256(bytes), now };
      }),
    );
    // A transaction of its own: the bytes are sent before the chat's row is locked.
    await database.transaction(async (transaction) => {
      const addedBytes = stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      await this.dependencies.storage.demand(transaction, ownerId, addedBytes);
      for (const file of stored) await insertFile(transaction, file);
      await claimObjects(transaction, stored.flatMap(keysOf));
    });
    const ids = stored.map(({ id }) => id);
    const gone = await database.transaction((transaction) => attachFiles(transaction, { chatId, ids, now }));
    if (gone.length > 0)
      this.dependencies.log.info(
        { chatId, files: gone.length },
        "removed a chat's oldest files to make room",
      );
    return stored.map(({ id: fileId, name, mediaType, sizeBytes }) => ({
      fileId,
      name,
      mediaType,
      sizeBytes,
    }));
  }

  /** The bytes of the files that are in the chat; missing and unreadable ones are not in the map. */
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

  /** Whether this server can read the file; logged when it cannot. */
  canRead({ id, objectKey }: { id: string; objectKey: string | null }): boolean {
    if (objectKey === null || this.dependencies.objects) return true;
    this.dependencies.log.error({ fileId: id }, NO_OBJECT_STORE);
    return false;
  }

  /** At most `length` bytes from `first` on; empty when the file was deleted or ends there. */
  async slice(id: string, first: number, length: number): Promise<Uint8Array> {
    const found = await readFileSlice(this.dependencies.database, { id, first, length });
    if (found === null) return new Uint8Array();
    return "slice" in found ? found.slice : this.#fetch(id, found.objectKey, { first, length });
  }

  /** Completes an upload. Idempotent for the same bytes. */
  async finish(id: string, bytes: Uint8Array): Promise<UploadOutcome> {
    const { database, clock } = this.dependencies;
    const upload = await findUpload(database, id);
    if (upload === null) return { outcome: "gone" };
    const digest = sha256(bytes);
    if (upload.sha256 !== null) return repeated(upload, upload.sha256, digest);
    const verdict = verifyContent(upload.mediaType, await contentOfFile(bytes));
    if ("refused" in verdict) return { outcome: "refused", message: verdict.refused };
    const { mediaType } = verdict;
    const stored = await this.#storeBytes({ id, mediaType }, bytes).catch((error: unknown) => {
      this.dependencies.log.error({ err: error, fileId: id }, "object store rejected a file");
      return null;
    });
    if (stored === null) return { outcome: "unavailable" };
    const isFirst = await database.transaction(async (transaction) => {
      const finished = { id, mediaType, sha256: digest, ...stored, now: clock.now() };
      if (!(await finishUpload(transaction, finished))) return false;
      await claimObjects(transaction, keysOf(stored));
      return true;
    });
    const { name, sizeBytes } = upload;
    if (isFirst) return { outcome: "stored", file: { id, name, mediaType, sizeBytes } };
    const other = await findUpload(database, id);
    return other?.sha256 ? repeated(other, other.sha256, digest) : { outcome: "gone" };
  }

  async #storeBytes(
    { id, mediaType }: { id: string; mediaType: string },
    bytes: Uint8Array,
  ): Promise<StoredBytes> {
    const { objects, database, clock } = this.dependencies;
    if (objects === null) return { content: bytes, objectKey: null };
    // Each attempt has its own key, so that two uploads of different bytes never overwrite each other.
    const objectKey = `files/${id}/${randomUUID()}`;
    await expectObject(database, objectKey, clock.now() + CLAIM_WITHIN_MS);
    await objects.put(objectKey, bytes, mediaType);
    return { content: null, objectKey };
  }

  /** Rejects, and logs, when there is no object store or it fails. */
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
      log.error({ err: error, fileId: id }, "file could not be read from the object store");
      throw error;
    }
  }
}

const NO_OBJECT_STORE =
  "The bytes of a file are in an object store, but this server has none configured: set PARLEY_S3_BUCKET as on the others.";

function keysOf({ objectKey }: StoredBytes): string[] {
  return objectKey === null ? [] : [objectKey];
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function repeated(file: FileRecord, known: Buffer, given: Buffer): UploadOutcome {
  const { id, name, mediaType, sizeBytes } = file;
  return known.equals(given)
    ? { outcome: "stored", file: { id, name, mediaType, sizeBytes } }
    : { outcome: "taken" };
}

/** Types shown to models and in browsers are detected from the first bytes; others from all known signatures. */
async function contentOfFile(bytes: Uint8Array): Promise<FileContent> {
  const content = await contentOf(bytes);
  if (content.kind === "text") return content;
  return { kind: "binary", mediaType: typeByBeginning(bytes) ?? content.mediaType };
}
