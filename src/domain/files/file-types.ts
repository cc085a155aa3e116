/** Media types: normalization, detection by magic bytes, and classification. Pure. */

/** Types with known first bytes; `*` matches any byte. */
const BEGINNINGS: readonly [mediaType: string, beginning: string][] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF****WEBP"],
  ["application/pdf", "%PDF-"],
  ["audio/wav", "RIFF****WAVE"],
  ["audio/mpeg", "ID3"],
  ["audio/mpeg", "\xff\xfb"],
  ["audio/mpeg", "\xff\xf3"],
  ["audio/mpeg", "\xff\xf2"],
  ["audio/ogg", "OggS"],
  ["audio/flac", "fLaC"],
];
const LONGEST_BEGINNING_BYTES = Math.max(...BEGINNINGS.map(([, beginning]) => beginning.length));
const KNOWN_TYPES: ReadonlySet<string> = new Set(BEGINNINGS.map(([mediaType]) => mediaType));

/** Aliases of media types. */
const SYNONYMS: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/mp3": "audio/mpeg",
  "audio/x-flac": "audio/flac",
  "application/x-gzip": "application/gzip",
  "application/x-zip-compressed": "application/zip",
  "application/x-pdf": "application/pdf",
  "text/xml": "application/xml",
};

export const UNKNOWN_MEDIA_TYPE = "application/octet-stream";

/** Names by RFC 6838, which limits their length. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** Normalizes a media type: no parameters, lower case, canonical name: `Image/JPG; q=1` → `image/jpeg`. Invalid ones are unknown. */
export function plainMediaType(mediaType: string): string {
  const plain = (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (!MEDIA_TYPE.test(plain)) return UNKNOWN_MEDIA_TYPE;
  return Object.hasOwn(SYNONYMS, plain) ? (SYNONYMS[plain] ?? plain) : plain;
}

/**
 * The media type to store a file under. For images, PDFs and audio the bytes decide, since vendors refuse a whole
 * conversation for one image that is none; any other claim is accepted.
 */
export function checkedMediaType(claimed: string, bytes: Uint8Array): string {
  const plain = plainMediaType(claimed);
  if (!KNOWN_TYPES.has(plain)) return plain;
  return typeByBeginning(bytes) ?? UNKNOWN_MEDIA_TYPE;
}

/** The type by magic bytes, of those that models and browsers show; undefined for every other. */
export function typeByBeginning(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, LONGEST_BEGINNING_BYTES)).toString("latin1");
  const fits = (beginning: string) =>
    start.length >= beginning.length &&
    beginning.split("").every((byte, at) => byte === "*" || byte === start[at]);
  return BEGINNINGS.find(([, beginning]) => fits(beginning))?.[0];
}

/** Whether some models accept files of this type as they are. */
export function isShownToModels(mediaType: string): boolean {
  return KNOWN_TYPES.has(plainMediaType(mediaType));
}

/** Text types outside `text/*`, besides `…+json`, `…+xml` and `…+yaml`. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/jsonl",
  "application/x-ndjson",
  "application/xml",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/javascript",
  "application/x-javascript",
  "application/typescript",
  "application/sql",
  "application/graphql",
  "application/x-sh",
]);

/** Whether files of this type are plain text. */
export function isTextType(mediaType: string): boolean {
  const type = plainMediaType(mediaType);
  return type.startsWith("text/") || TEXT_TYPES.has(type) || /\+(json|xml|yaml)$/.test(type);
}

/** Whether the text is a well-formed media type, with or without parameters. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test((text.split(";", 1)[0] ?? "").trim().toLowerCase());
}
