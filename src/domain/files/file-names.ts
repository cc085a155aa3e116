/** Names of files as people and tools give them → names that can be shown, stored and saved under. Pure. */

/** What file systems take. */
const MAX_NAME_BYTES = 255;

/**
 * Without folders, control characters and what turns the direction of writing (`invoice\u202efdp.exe` is no PDF), at most
 * 255 bytes; null when nothing of a name is left.
 */
export function plainFileName(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "").replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = cutName(plain.trim());
  return short === "" || short === "." || short === ".." ? null : short;
}

/** The end stays as long as it is an extension: it says what the file is. */
function cutName(name: string): string {
  if (byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? "";
  let kept = "";
  let bytes = extension.length;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += byteLength(character);
    if (bytes > MAX_NAME_BYTES) break;
    kept += character;
  }
  return kept.trimEnd() + extension;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Texts by their extension, for those who are told no type. */
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

/** The media type of a file of which no more is known than that it is text. */
export function textTypeOfName(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXT_EXTENSIONS, extension)
    ? (TEXT_EXTENSIONS[extension] ?? "text/plain")
    : "text/plain";
}
