/** Writes a whole file and creates its parent directories; an existing file keeps its mode. */
import { done, refused, type Outcome } from "../outcome.js";
import { MAX_WRITE_BYTES, type WriteFileAnswer, type WriteFileRequest } from "../protocol/files.js";
import { stageFile } from "./atomic-write.js";
import type { PathLocks } from "./path-locks.js";
import { absolutePath, resolveLinks } from "./paths.js";

/** Atomic: a refusal leaves the file unchanged. */
export async function writeFile(
  directory: string,
  locks: PathLocks,
  request: WriteFileRequest,
): Promise<Outcome<WriteFileAnswer>> {
  const bytes = Buffer.byteLength(request.content);
  if (bytes > MAX_WRITE_BYTES) {
    return refused(
      413,
      `The content has ${bytes} bytes, more than the ${MAX_WRITE_BYTES} that can be written.`,
      {
        field: "content",
      },
    );
  }
  if (request.path.endsWith("/"))
    return refused(400, `${request.path} names a directory.`, { field: "path" });
  const resolved = await resolveLinks(absolutePath(directory, request.path));
  if (resolved.kind === "refused") return resolved;
  const path = resolved.value;
  return locks.runExclusive([path], async () => {
    const staged = await stageFile(path, request.content);
    if (staged.kind === "refused") return staged;
    const committed = await staged.value.commit();
    return committed.kind === "refused" ? committed : done({ path, bytes });
  });
}
