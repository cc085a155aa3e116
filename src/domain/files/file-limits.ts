/** Limits of files, each with the reason for its number. */

/** Bytes of one file: what vendors accept of a document and a browser can upload within one request. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Files of one chat; beyond that the oldest are deleted. */
export const MAX_CHAT_FILES = 50;

/** Files of one message: as many as are sent to a model at once. */
export const MAX_MESSAGE_FILES = 20;

/** Files that a user has uploaded, or is about to, and not sent yet. */
export const MAX_LOOSE_FILES = 50;

/** Lifetime of an upload link; a file without content is deleted after it. */
export const UPLOAD_LIFE_MS = 3_600_000;

/** Lifetime of a file that is in no chat. */
export const LOOSE_FILE_LIFE_MS = 24 * 3_600_000;
