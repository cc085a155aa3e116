/** Sanitizes file names from users and tools, so that they can be shown, stored and saved under. Pure. */

/** The limit of common file systems. */
const MAX_NAME_BYTES = 255;

/**
 * The name without folders, control characters and bidirectional controls (`invoice\u202efdp.exe` is no PDF), at most
 * 255 bytes; null when nothing is left.
 */
export function plainFileName(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "").replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = cutName(plain.trim());
  return short === "" || short === "." || short === ".." ? null : short;
}

/** Truncates the name before its extension, which says what the file is. */
function cutName(name: string): string {
  if (byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? "";
  let base = "";
  let bytes = extension.length;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += byteLength(character);
    if (bytes > MAX_NAME_BYTES) break;
    base += character;
  }
  return base.trimEnd() + extension;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Media types of text files by extension. */
const TEXT_EXTENSIONS: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  htm: "text/html",
  css: "text/css",
  js: "text/javascript",
  mjs: "text/javascript",
  json: "application/json",
  jsonl: "application/jsonl",
  xml: "application/xml",
  svg: "image/svg+xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  toml: "application/toml",
};

/** The media type of a text file by its name. */
export function textTypeOfName(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXT_EXTENSIONS, extension)
    ? (TEXT_EXTENSIONS[extension] ?? "text/plain")
    : "text/plain";
}
