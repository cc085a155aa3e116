// Variables of chats, turns and the workers that run them; part of the table in config.ts.
import { optional, wholeNumber, withDefault, zeroOr } from "./variable.js";

const DAY_MS = 86_400_000;
/** The longest timeout of a client tool, GraphQL's largest Int: 24 days. */
const LONGEST_CLIENT_TOOL_TIMEOUT_MS = 2_147_483_647;
/** Renews a default lease three times before it expires. */
export const DEFAULT_HEARTBEAT_MS = 9_000;

export const chatVariables = {
  leaseMs: withDefault(
    {
      name: "PARLEY_LEASE_MS",
      meaning:
        "Lease of a worker; other workers take over its chats when it is not renewed within this many milliseconds.",
    },
    "30000",
    wholeNumber(100, DAY_MS, " of milliseconds"),
  ),
  heartbeatMs: optional(
    {
      name: "PARLEY_HEARTBEAT_MS",
      meaning: "Interval at which a worker renews its lease; below half the lease.",
    },
    `${DEFAULT_HEARTBEAT_MS}, or a third of a shorter lease`,
    wholeNumber(10, DAY_MS, " of milliseconds"),
  ),
  acquireBatchSize: withDefault(
    { name: "PARLEY_ACQUIRE_BATCH_SIZE", meaning: "Most chats that a worker claims at once." },
    "10",
    wholeNumber(1, 1_000),
  ),
  maxRunningChats: withDefault(
    {
      name: "PARLEY_MAX_RUNNING_CHATS",
      meaning: "Chats that run concurrently on all servers together; further ones wait. 0 = no limit.",
    },
    "0",
    wholeNumber(0, 1_000_000),
  ),
  maxRunningChatsPerUser: withDefault(
    {
      name: "PARLEY_MAX_RUNNING_CHATS_PER_USER",
      meaning: "Chats of one user that run concurrently; further ones wait. 0 = no limit.",
    },
    "0",
    wholeNumber(0, 1_000_000),
  ),
  autoArchiveDays: withDefault(
    {
      name: "PARLEY_AUTO_ARCHIVE_DAYS",
      meaning: "Chats without changes for this many days are archived. 0 = never.",
    },
    "0",
    wholeNumber(0, 36_500),
  ),
  maxStepsPerTurn: withDefault(
    {
      name: "PARLEY_MAX_STEPS_PER_TURN",
      meaning: "Most model calls in one turn; a model that keeps calling tools is stopped there.",
    },
    "1200",
    wholeNumber(1, 100_000),
  ),
  clientToolTimeoutMs: withDefault(
    {
      name: "PARLEY_CLIENT_TOOL_TIMEOUT_MS",
      meaning:
        "Milliseconds that a client has to answer calls of its own tools, unless the tool sets another limit; then they time out. 0 = no limit.",
    },
    "300000",
    zeroOr(wholeNumber(1_000, LONGEST_CLIENT_TOOL_TIMEOUT_MS, " of milliseconds")),
  ),
  subagentDepth: withDefault(
    {
      name: "PARLEY_SUBAGENT_DEPTH",
      meaning:
        "How deep agents may start subagents: 1 = agents of users' chats, 2 = their subagents too. 0 = none.",
    },
    "1",
    wholeNumber(0, 8),
  ),
};
