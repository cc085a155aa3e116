/** What models are asked for. */

/** `step`: the next message of a turn; `compaction`: a summary of what was said; `title`: the chat's name. */
export const MODEL_CALL_PURPOSES = ["step", "compaction", "title"] as const;
export type ModelCallPurpose = (typeof MODEL_CALL_PURPOSES)[number];
