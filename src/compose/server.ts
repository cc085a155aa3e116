/** The server, composed: core → agents → doors → turns, and closed in reverse. */
import type { Config } from "../config/config.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import { openAgents, type Programs } from "./agents.js";
import { Closers } from "./closers.js";
import { openCore } from "./core.js";
import { openApi } from "./api.js";
import { openWorker } from "./worker.js";

export type Parley = {
  /** Null in a process that is a worker only. */
  url: string | null;
  /** The first admin's token, when it was made or given at this start. */
  adminToken: string | null;
  /** The default workspace; null until there is an admin to own it. */
  workspaceId: string | null;
  modelName: string;
  isDemoModel: boolean;
  database: Database;
  /** Hands running chats back, ends subscriptions, drains requests, then lets go of everything else. */
  close(): Promise<void>;
};

/** Rejects when something cannot be opened; then everything opened before is closed again. */
export async function startParley(config: Config, log: Log, programs: Programs = {}): Promise<Parley> {
  const closers = new Closers(log);
  try {
    return await compose({ config, log, programs }, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

type Setting = { config: Config; log: Log; programs: Programs };

async function compose({ config, log, programs }: Setting, closers: Closers): Promise<Parley> {
  for (const warning of config.warnings) log.warn(warning);
  const core = await openCore(config, log, closers, programs.clock);
  const agents = await openAgents(core, closers, programs);
  const doors = config.role === "worker" ? null : await openApi(core, agents, closers);
  if (config.role !== "api") await openWorker(core, agents, closers);
  // First to go: requests that wait for a title would hold the doors open.
  closers.add("the titles", () => core.titles.close());
  const { adminToken, workspaceId, modelName, isDemoModel } = core.seeded;
  return {
    url: doors?.url ?? null,
    adminToken,
    workspaceId,
    modelName,
    isDemoModel,
    database: core.database,
    close: () => closers.closeAll(),
  };
}
