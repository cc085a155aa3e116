/** Purposes of model calls. */

/** `step`: the next message of a turn; `compaction`: a summary of the conversation; `title`: the chat's title. */
const MODEL_CALL_PURPOSES = ["step", "compaction", "title"] as const;
export type ModelCallPurpose = (typeof MODEL_CALL_PURPOSES)[number];
