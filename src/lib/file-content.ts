/** What some bytes are, whoever brings them: text by its letters, everything else by the signatures that are known. */
import { fileTypeFromBuffer } from "file-type";

/** Marks of UTF-16, which nobody here reads; to signatures they look like sound. */
const UTF16_MARKS = ["fffe", "feff"];
/** Whatever is below a space and no part of any text: not tab, line ends, form feed, backspace or escape. */
// oxlint-disable-next-line no-control-regex -- these are what must not be there.
const CONTROL = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f]/;
/** Signatures that are found in texts: of the others a text may have some letters by chance. */
const LETTERED = /^(?:text\/|application\/(?:pdf|xml|rtf|postscript|pgp-encrypted)$)/;

/** As `FileContent` in src/domain/files/file-content.ts. */
export async function contentOf(
  bytes: Uint8Array,
): Promise<{ kind: "text" | "binary"; mediaType: string | null }> {
  const found = (await fileTypeFromBuffer(bytes))?.mime ?? null;
  if (isText(bytes))
    return { kind: "text", mediaType: found !== null && LETTERED.test(found) ? found : null };
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  return { kind: "binary", mediaType: UTF16_MARKS.includes(mark) ? null : found };
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !CONTROL.test(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false; // No UTF-8.
  }
}
