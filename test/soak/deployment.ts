// The deployment under test: several servers on one database, any of which may fail at any time.
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { DemoRequest } from "../../src/demo-model/request.js";
import type { ApiClient } from "../support/clients/api-client.js";
import type { Chance } from "./chance.js";

export type AnswerAsModel = (request: DemoRequest) => ScriptStep;

export type Deployment = {
  workspaceId: string;
  /** Model configs that chats may use. */
  modelConfigIds: string[];
  /** Whether its servers publish chat list events too. */
  hasListEvents: boolean;
  /** A server that was up a moment ago. */
  server(chance: Chance): ApiClient;
  /** Injects a random fault, and resolves with its name once all servers are up again. */
  strike(chance: Chance): Promise<string>;
  /** Stops Redis for a while; resolves once it is back. */
  stopRedis(): Promise<void>;
  /** Stops injecting faults. */
  calm(): Promise<void>;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Model calls repeated for lost or failed attempts, according to the servers' logs; null = unknown. */
  explainedRepeats(): number | null;
  /** Leases that must be live without faults. */
  livingWorkers(): number;
  /** Additional lines of the summary: memory, logged errors. */
  remarks(): Promise<string[]>;
  /** Violations found in the servers' logs. */
  complaints(): string[];
  /** Stops everything; returns descriptions of what was left behind. */
  close(): Promise<string[]>;
};

/** A client tool. */
export const CLIENT_TOOLS = [
  {
    name: "ask_user",
    description: "Asks the user.",
    inputSchema: { type: "object", properties: { question: { type: "string" } } },
  },
];

/** Makes the context limit small before any chat is created, so that conversations sometimes exceed it. */
export const SMALL_CONTEXT = "UPDATE model_configs SET context_limit = $1";

/** Whether a refusal is temporary: clients retry after it, as the SDK does. */
export function isTemporary(text: string): boolean {
  return text.includes('"code":"UNAVAILABLE"') || text.includes('"code":"RATE_LIMITED"');
}
