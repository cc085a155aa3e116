/**
 * Stored responses of the Responses format (`store`), by their id, for requests that continue one. Global to the process:
 * ids are unique, and evicted ones are refused as the vendor refuses unknown ones.
 */
import type { DemoTurn } from "./request.js";

/** The oldest is evicted first. */
const MAX_STORED_ANSWERS = 1_000;

const answers = new Map<string, DemoTurn[]>();

/** Stores the conversation up to and including the answer. */
export function storeAnswer(id: string, conversation: DemoTurn[]): void {
  answers.set(id, conversation);
  if (answers.size <= MAX_STORED_ANSWERS) return;
  const [oldest] = answers.keys();
  if (oldest !== undefined) answers.delete(oldest);
}

/** The conversation up to and including this answer; undefined when it was not stored, or was evicted. */
export function storedConversation(id: string): DemoTurn[] | undefined {
  return answers.get(id);
}
