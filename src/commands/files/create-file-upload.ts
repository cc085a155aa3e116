/** A person is about to upload a file: its name, type and size are judged before a byte travels. */
import { randomUUID } from "node:crypto";
import { MAX_FILE_BYTES, MAX_LOOSE_FILES, UPLOAD_LIFE_MS } from "../../domain/files/file-limits.js";
import { plainFileName } from "../../domain/files/file-names.js";
import { isMediaType, plainMediaType } from "../../domain/files/file-types.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { FileRecord } from "../../store/files/files.js";
import { announceUpload } from "../../store/files/uploads.js";
import type { CommandRefusal, CommandResult, WantedUpload } from "../chats/chat-commands.js";
import { refuse, type CommandDependencies } from "../common/command-dependencies.js";
import { refusalOfUndone } from "../common/rolled-back.js";

/** `expiresAt`: until when its bytes may come, in milliseconds since the epoch. */
export async function createFileUpload(
  { database, clock, storage }: Pick<CommandDependencies, "database" | "clock" | "storage">,
  viewer: Viewer,
  wanted: WantedUpload,
): Promise<CommandResult<{ file: FileRecord; expiresAt: number }>> {
  const name = plainFileName(wanted.name);
  const [first, ...others] = mistakesIn(wanted, name);
  if (first || name === null) return refuse({ ...(first ?? NO_NAME), others });
  const { mediaType, sizeBytes } = wanted;
  const file = { id: randomUUID(), name, mediaType: plainMediaType(mediaType), sizeBytes };
  const now = clock.now();
  const announced = { ...file, ownerId: viewer.userId, now };
  try {
    // The bytes count from here on, so that uploads that were announced always have their space.
    const isAnnounced = await database.transaction(async (transaction) => {
      await storage.demand(transaction, viewer.userId, sizeBytes);
      return announceUpload(transaction, announced, MAX_LOOSE_FILES);
    });
    return isAnnounced ? { ok: true, file, expiresAt: now + UPLOAD_LIFE_MS } : refuse(TOO_MANY);
  } catch (error) {
    return refusalOfUndone(error);
  }
}

const NO_NAME: CommandRefusal = { code: "INVALID", message: "Nothing of a name is left.", path: ["name"] };

const TOO_MANY: CommandRefusal = {
  code: "LIMIT_EXCEEDED",
  message: `You have ${MAX_LOOSE_FILES} files that are in no chat. Send some of them, or come back tomorrow.`,
};

function mistakesIn({ mediaType, sizeBytes }: WantedUpload, name: string | null): CommandRefusal[] {
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
