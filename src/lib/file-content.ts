/** Content type detection by the bytes alone: text by its characters, everything else by known signatures. */
import { fileTypeFromBuffer } from "file-type";

/** Byte order marks of UTF-16, which is not supported; signatures take them for audio. */
const UTF16_MARKS = ["fffe", "feff"];
/** Control characters that no text has: all but tab, line ends, form feed, backspace and escape. */
// oxlint-disable-next-line no-control-regex -- these are what must not be there.
const CONTROL = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f]/;
/** Signatures of formats that are text; a text may match the letters of any other one by chance. */
const TEXT_FORMATS = /^(?:text\/|application\/(?:pdf|xml|rtf|postscript|pgp-encrypted)$)/;

/** As `FileContent` in src/domain/files/file-content.ts. */
export async function contentOf(
  bytes: Uint8Array,
): Promise<{ kind: "text" | "binary"; mediaType: string | null }> {
  const found = (await fileTypeFromBuffer(bytes))?.mime ?? null;
  if (isText(bytes))
    return { kind: "text", mediaType: found !== null && TEXT_FORMATS.test(found) ? found : null };
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  return { kind: "binary", mediaType: UTF16_MARKS.includes(mark) ? null : found };
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !CONTROL.test(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false; // Not UTF-8.
  }
}
