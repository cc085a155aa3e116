/**
 * The answers that the Responses format was asked to keep (`store`), by their id, for requests that go on from one.
 * Owned by the process: ids are unique, and what is forgotten is refused as the vendor refuses it.
 */
import type { DemoTurn } from "./request.js";

/** The oldest is forgotten first. */
const KEPT_ANSWERS = 1_000;

const answers = new Map<string, DemoTurn[]>();

/** Keeps the whole conversation up to and with the answer. */
export function keepAnswer(id: string, conversation: DemoTurn[]): void {
  answers.set(id, conversation);
  if (answers.size <= KEPT_ANSWERS) return;
  const [oldest] = answers.keys();
  if (oldest !== undefined) answers.delete(oldest);
}

/** The conversation up to and with this answer; undefined when it was never kept, or is forgotten. */
export function keptConversation(id: string): DemoTurn[] | undefined {
  return answers.get(id);
}
