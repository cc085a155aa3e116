/** Composition root of the server: opens core → agents → API → worker, and closes them in reverse. */
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
  /** The default port, if another program has it and the next free one was taken. */
  takenPort: number | null;
  /** The first admin's token, if it was created at this start. */
  adminToken: string | null;
  /** The default workspace; null until there is an admin to own it. */
  workspaceId: string | null;
  modelName: string;
  isDemoModel: boolean;
  database: Database;
  /** Releases running chats, ends subscriptions, drains requests, then closes everything else. */
  close(): Promise<void>;
};

/** Rejects when opening fails, after closing what was already open. */
export async function startParley(config: Config, log: Log, programs: Programs = {}): Promise<Parley> {
  const closers = new Closers(log);
  try {
    return await compose({ config, log, programs }, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

type Setup = { config: Config; log: Log; programs: Programs };

async function compose({ config, log, programs }: Setup, closers: Closers): Promise<Parley> {
  for (const warning of config.warnings) log.warn(warning);
  const core = await openCore(config, log, closers, programs.clock);
  const agents = await openAgents(core, closers, programs);
  const api = config.role === "worker" ? null : await openApi(core, agents, closers);
  const { adminToken, workspaceId, modelName, isDemoModel } = await core.seeding.run();
  if (config.role !== "api") await openWorker(core, agents, closers);
  // Closed first: requests that wait for a title would delay closing the API.
  closers.add("the titles", () => core.titles.close());
  return {
    url: api?.url ?? null,
    takenPort: api !== null && config.port !== 0 && api.port !== config.port ? config.port : null,
    adminToken,
    workspaceId,
    modelName,
    isDemoModel,
    database: core.database,
    close: () => closers.closeAll(),
  };
}
