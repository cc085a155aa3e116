/** Bounds of files, wherever they come from. Each number says where it is from. */

/** Bytes of one file; what vendors take of a document and a browser uploads within the time of a request. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Files of one chat; beyond that the oldest go. */
export const MAX_CHAT_FILES = 50;

/** Files of one message: as many as go to a model at once. */
export const MAX_MESSAGE_FILES = 20;

/** Files that one person has uploaded, or is about to, and has sent nowhere yet. */
export const MAX_LOOSE_FILES = 50;

/** An upload's link works so long; without its bytes the file is gone after that. */
export const UPLOAD_LIFE_MS = 3_600_000;

/** A file that is in no chat is gone after that. */
export const LOOSE_FILE_LIFE_MS = 24 * 3_600_000;
