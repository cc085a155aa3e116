// What the soak lives on: some servers on one database, of which any may be struck down at any time.
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { DemoRequest } from "../../src/demo-model/request.js";
import type { ApiClient } from "../support/clients/api-client.js";
import type { Chance } from "./chance.js";

export type AnswerAsModel = (request: DemoRequest) => ScriptStep;

export type Deployment = {
  workspaceId: string;
  /** The configs of the models that chats may choose. */
  modelConfigIds: string[];
  /** Whether its servers tell of lists of chats too. */
  tellsLists: boolean;
  /** A server that was up a moment ago. */
  server(chance: Chance): ApiClient;
  /** Harms a server in some way and resolves, with the name of what was done, once all are up again. */
  strike(chance: Chance): Promise<string>;
  /** Takes away for a while what carries news between the servers; resolves once it is back. */
  stopRedis(): Promise<void>;
  /** Nothing is broken on purpose any more. */
  calm(): Promise<void>;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Model calls made again for attempts that were lost or have failed, as the servers told; null = they do not tell. */
  explainedRepeats(): number | null;
  /** Leases that have to be alive when nobody is struck. */
  livingWorkers(): number;
  /** What is worth a line in the summary: memory, logged errors. Empty = nothing. */
  remarks(): Promise<string[]>;
  /** Sentences about what must not have happened in the servers. */
  complaints(): string[];
  /** Ends everything; sentences about what it has left behind. */
  close(): Promise<string[]>;
};

/** A tool that the chats' clients answer themselves. */
export const CLIENT_TOOLS = [
  {
    name: "ask_person",
    description: "Asks the person.",
    inputSchema: { type: "object", properties: { question: { type: "string" } } },
  },
];

/** The servers are told so, before any chat is made, that conversations fill up now and then. */
export const SMALL_CONTEXT = "UPDATE model_configs SET context_limit = $1";

/** Whether a refusal passes by itself: clients come back after it, as the SDK does. */
export function isPassing(words: string): boolean {
  return words.includes('"code":"UNAVAILABLE"') || words.includes('"code":"RATE_LIMITED"');
}
