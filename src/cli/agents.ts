/**
 * The ways from this process to workspace agents: those of this machine, started when they are needed, and those that
 * call, here or at another replica.
 */
import { fileURLToPath } from "node:url";
import { type Config, processEnvironment } from "../config.js";
import { giveGitCredentials } from "../engine/git-credentials.js";
import { WorkspaceContexts } from "../engine/workspace-contexts.js";
import { Workspaces } from "../engine/workspaces.js";
import { createAgentDoor } from "../http/agent-door.js";
import type { UpgradeTaker } from "../http/upgrades.js";
import {
  claimWorkspace,
  findWorkspaceOfAgent,
  isAgentExpected,
  looksLikeAgentToken,
  readAgentTokenHash,
  releaseRegistration,
  renewRegistrations,
} from "../store/external-workspaces.js";
import type { GivenAgentOptions } from "../workspaces/given-agent.js";
import { LocalAgents } from "../workspaces/local-agents.js";
import { ExternalAgents } from "../workspaces/tunnels/external-agents.js";
import { HeldCalls } from "../workspaces/tunnels/held-calls.js";
import { noPlaces, type Places, type Registrations } from "../workspaces/tunnels/ports.js";
import { ServerLines } from "../workspaces/server-lines.js";
import { Relays } from "../workspaces/tunnels/relays.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";

export type Agents = {
  workspaces: Workspaces;
  local: LocalAgents;
  /** What their workspaces tell about themselves. */
  contexts: WorkspaceContexts;
  /** Where agents call, and replicas come for the calls. */
  door: UpgradeTaker;
};

/** How other programs are started; what is absent is this version's own. */
export type Programs = {
  /** A workspace agent: the program and its first arguments. */
  agentCommand?: readonly string[];
};

export async function openAgents(core: Core, closers: Closers, programs: Programs): Promise<Agents> {
  const { config, database, clock, log, secrets } = core;
  const registrations = registrationsIn(core);
  const places = await openPlaces(core, closers);
  const replicaSecret = config.replicaSecret ?? null;
  const held = new HeldCalls({ registrations, places, replicaUrl: config.replicaUrl ?? null, clock, log });
  closers.add("the agents' calls", () => held.close());
  const relays = new Relays({ secret: replicaSecret, clock, log });
  closers.add("the relays to other replicas", () => relays.close());
  const external = new ExternalAgents({ held, relays, places, registrations, clock, log });
  const program = { command: programs.agentCommand ?? agentCommand(), environment: processEnvironment() };
  // Closed after the agents: their end is the end of what is still being read.
  const contexts = new WorkspaceContexts({ clock, log });
  closers.add("the workspace contexts", () => contexts.close());
  const local = new LocalAgents({ ...program, given: givenAgent(config), log, clock });
  closers.add("the local agents", () => local.close());
  const lines = new ServerLines({
    answer: (workspaceId, request) => giveGitCredentials({ database, secrets, log }, workspaceId, request),
    ...{ clock, log, random: Math.random },
  });
  closers.add("the lines to agents", () => lines.close());
  return {
    local,
    contexts,
    workspaces: new Workspaces({ database, agents: local, external, lines, clock, log }),
    door: createAgentDoor({
      held,
      findWorkspace: async (token, tokenHash) =>
        looksLikeAgentToken(token) ? findWorkspaceOfAgent(database, tokenHash) : null,
      replicaSecret,
      clock,
      log,
    }),
  };
}

function givenAgent(config: Config): GivenAgentOptions | null {
  const { workspaceDir: directory, workspaceAgentUrl: url, workspaceAgentToken: token } = config;
  return url !== undefined && token !== undefined ? { directory, url, token } : null;
}

function registrationsIn({ database }: Core): Registrations {
  return {
    claim: (claim) => claimWorkspace(database, claim),
    renew: (registrationIds, leaseMs) => renewRegistrations(database, registrationIds, leaseMs),
    release: (registrationId) => releaseRegistration(database, registrationId),
    tokenHashOf: (workspaceId) => readAgentTokenHash(database, workspaceId),
    isExpected: (workspaceId) => isAgentExpected(database, workspaceId),
  };
}

/** Through Redis where there is one; its client is loaded only then. */
async function openPlaces({ config, log, clock }: Core, closers: Closers): Promise<Places> {
  if (!config.redisUrl) return noPlaces;
  const { RedisAgentDirectory } = await import("../events/agent-directory.js");
  const directory = new RedisAgentDirectory({ url: config.redisUrl, log, clock });
  closers.add("the directory of agents", () => directory.close());
  return directory;
}

/** The agent program of this very version: compiled, or from its source when the server runs from its source. */
function agentCommand(): string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const program = fileURLToPath(new URL(isSource ? "../agent/main.ts" : "../agent/main.js", import.meta.url));
  const loader = isSource ? ["--import", import.meta.resolve("@oxc-node/core/register")] : [];
  return [process.execPath, ...loader, program];
}
