/** Announces an upload: checks name, type and size before any byte is sent. */
import { randomUUID } from "node:crypto";
import { MAX_FILE_BYTES, MAX_LOOSE_FILES, UPLOAD_LIFE_MS } from "../../domain/files/file-limits.js";
import { plainFileName } from "../../domain/files/file-names.js";
import { isMediaType, plainMediaType } from "../../domain/files/file-types.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { FileRecord } from "../../store/files/files.js";
import { announceUpload } from "../../store/files/uploads.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { refuse, type CommandDependencies } from "../common/command-dependencies.js";
import { refusalOfRollback } from "../common/rolled-back.js";

/** A file as announced; `sizeBytes` exactly. */
export type UploadRequest = { name: string; mediaType: string; sizeBytes: number };

/** `expiresAt`: the deadline for the bytes, in milliseconds since the epoch. */
export async function createFileUpload(
  { database, clock, storage }: Pick<CommandDependencies, "database" | "clock" | "storage">,
  viewer: Viewer,
  request: UploadRequest,
): Promise<CommandResult<{ file: FileRecord; expiresAt: number }>> {
  const name = plainFileName(request.name);
  const [first, ...others] = problemsOf(request, name);
  if (first || name === null) return refuse({ ...(first ?? NO_NAME), others });
  const { mediaType, sizeBytes } = request;
  const file = { id: randomUUID(), name, mediaType: plainMediaType(mediaType), sizeBytes };
  const now = clock.now();
  const announced = { ...file, ownerId: viewer.userId, now };
  try {
    // The bytes count from now on, so that space is reserved for announced uploads.
    const isAnnounced = await database.transaction(async (transaction) => {
      await storage.demand(transaction, viewer.userId, sizeBytes);
      return announceUpload(transaction, announced, MAX_LOOSE_FILES);
    });
    return isAnnounced ? { ok: true, file, expiresAt: now + UPLOAD_LIFE_MS } : refuse(TOO_MANY);
  } catch (error) {
    return refusalOfRollback(error);
  }
}

const NO_NAME: CommandRefusal = {
  code: "INVALID",
  message: "The name has no usable characters.",
  path: ["name"],
};

const TOO_MANY: CommandRefusal = {
  code: "LIMIT_EXCEEDED",
  message: `You have ${MAX_LOOSE_FILES} files that are in no chat. Send some of them, or try again tomorrow.`,
};

function problemsOf({ mediaType, sizeBytes }: UploadRequest, name: string | null): CommandRefusal[] {
  const invalid = (message: string, field: string): CommandRefusal => ({
    code: "INVALID",
    message,
    path: [field],
  });
  return [
    ...(name === null ? [NO_NAME] : []),
    ...(isMediaType(mediaType) ? [] : [invalid("A media type looks like image/png.", "mediaType")]),
    ...(sizeBytes >= 1 && sizeBytes <= MAX_FILE_BYTES
      ? []
      : [invalid(`A file has 1 to ${MAX_FILE_BYTES} bytes.`, "sizeBytes")]),
  ];
}
