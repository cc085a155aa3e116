// Inserts files straight into the database, for tests that are not about uploads.
import { createHash, randomUUID } from "node:crypto";
import { attachFiles } from "../../src/store/files/chat-files.js";
import type { Database } from "../../src/store/common/database.js";
import { insertFile } from "../../src/store/files/files.js";

type Given = { name: string; mediaType: string; bytes: Uint8Array };

/** Inserts a user's file, in the chat when there is one; returns its id in the database. */
export async function insertTestFile(
  database: Database,
  { ownerId, chatId }: { ownerId: string; chatId?: string },
  { name, mediaType, bytes }: Given,
): Promise<string> {
  const id = randomUUID();
  const sha256 = createHash("sha256").update(bytes).digest();
  const now = Date.now();
  const file = { id, ownerId, name, mediaType, sizeBytes: bytes.length, sha256 };
  await insertFile(database, { ...file, content: bytes, objectKey: null, now });
  if (chatId !== undefined)
    await database.transaction((transaction) => attachFiles(transaction, { chatId, ids: [id], now }));
  return id;
}
