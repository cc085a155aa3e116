/**
 * The ways from this process to workspace agents: those of this machine, started when they are needed, and those that
 * call, here or at another replica.
 */
import { join } from "node:path";
import { type Config, processEnvironment } from "../config/config.js";
import { createWorkspaceCommands } from "../commands/workspaces/workspace-commands.js";
import type { WorkspaceCommands } from "../commands/workspaces/workspace-commands.js";
import { giveGitCredentials } from "../services/git/git-credentials.js";
import { WorkspaceContexts } from "../services/workspaces/workspace-contexts.js";
import { WorkspaceLifecycle } from "../services/workspaces/workspace-lifecycle.js";
import { WorkspaceUse } from "../services/workspaces/workspace-use.js";
import { Workspaces } from "../services/workspaces/workspaces.js";
import { createAgentEndpoint } from "../http/agent-endpoint.js";
import type { UpgradeHandler } from "../http/common/upgrades.js";
import {
  claimWorkspace,
  findWorkspaceOfAgent,
  isAgentExpected,
  looksLikeAgentToken,
  readAgentTokenHash,
  releaseRegistration,
  renewRegistrations,
} from "../store/workspaces/external-workspaces.js";
import { setDirectory } from "../store/workspaces/managed-workspaces.js";
import type { Clock } from "../lib/clock.js";
import type { AttachedAgentOptions } from "../workspaces/attached-agent.js";
import { LocalAgents } from "../workspaces/local-agents.js";
import { DockerWorkspaces } from "../workspaces/provisioners/docker.js";
import { externalProvisioner } from "../workspaces/provisioners/external.js";
import { KubernetesWorkspaces } from "../workspaces/provisioners/kubernetes.js";
import { LocalWorkspaces } from "../workspaces/provisioners/local-workspaces.js";
import { judgeSpec } from "../workspaces/provisioners/specs.js";
import { ExternalAgents } from "../workspaces/tunnels/external-agents.js";
import { AgentConnections } from "../workspaces/tunnels/agent-connections.js";
import { noAgentLocations, type AgentLocations, type Registrations } from "../workspaces/tunnels/ports.js";
import { ControlChannels } from "../workspaces/control-channels.js";
import { Relays } from "../workspaces/tunnels/relays.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";
import { siblingProgram } from "../lib/sibling-program.js";

export type Agents = {
  workspaces: Workspaces;
  workspaceCommands: WorkspaceCommands;
  /** Notes when they are used. */
  use: WorkspaceUse;
  local: LocalAgents;
  /** What their workspaces tell about themselves. */
  contexts: WorkspaceContexts;
  /** Where agents call, and replicas come for the calls. */
  door: UpgradeHandler;
};

/** How other programs are started, and the time told; what is absent is this version's own. */
export type Programs = {
  /** A workspace agent: the program and its first arguments. */
  agentCommand?: readonly string[];
  /** By which the server tells the time; the machine's when absent. */
  clock?: Clock;
};

export async function openAgents(core: Core, closers: Closers, programs: Programs): Promise<Agents> {
  const { config, database, clock, log, secrets, transitionDependencies } = core;
  const registrations = registrationsIn(core);
  const locations = await openLocations(core, closers);
  const replicaSecret = config.replicaSecret ?? null;
  const held = new AgentConnections({
    registrations,
    locations,
    replicaUrl: config.replicaUrl ?? null,
    clock,
    log,
  });
  closers.add("the agents' connections", () => held.close());
  core.meters.observe("called_agents", () => held.count);
  const relays = new Relays({ secret: replicaSecret, clock, log });
  closers.add("the relays to other replicas", () => relays.close());
  const external = new ExternalAgents({ connections: held, relays, locations, registrations, clock, log });
  const program = { command: programs.agentCommand ?? agentCommand(), environment: processEnvironment() };
  // Closed after the agents: their end is the end of what is still being read.
  const contexts = new WorkspaceContexts({ clock, log });
  closers.add("the workspace contexts", () => contexts.close());
  const local = new LocalAgents({ ...program, attached: attachedAgent(config), log, clock });
  closers.add("the local agents", () => local.close());
  const credentialParts = { ...transitionDependencies, secrets, log };
  const controlChannels = new ControlChannels({
    answer: (workspaceId, request) => giveGitCredentials(credentialParts, workspaceId, request),
    ...{ clock, log, random: Math.random },
  });
  closers.add("the control channels", () => controlChannels.close());
  const own = openOwnWorkspaces(core, { local, external, controlChannels }, closers);
  return {
    local,
    contexts,
    ...own,
    door: createAgentEndpoint({
      held,
      findWorkspace: async (token, tokenHash) =>
        looksLikeAgentToken(token) ? findWorkspaceOfAgent(database, tokenHash) : null,
      replicaSecret,
      rateGate: core.rateGate,
      clock,
      log,
    }),
  };
}

type Ways = { local: LocalAgents; external: ExternalAgents; controlChannels: ControlChannels };

/** Workspaces as chats use them, and those that the server itself makes, starts and stops. */
function openOwnWorkspaces(core: Core, { local, external, controlChannels }: Ways, closers: Closers) {
  const { config, database, bus, clock, log } = core;
  const root = config.workspacesDir ?? join(config.dataDir, "workspaces");
  const saveDirectory = (id: string, directory: string) => setDirectory(database, id, directory);
  const directories = new LocalWorkspaces({ root, agents: local, saveDirectory });
  const use = new WorkspaceUse({ database, clock, log });
  closers.add("the notes of workspaces in use", () => use.close());
  const dependencies = { database, bus, local: directories, clock, log };
  const workspaces = new Workspaces({ ...dependencies, agents: local, external, controlChannels, use });
  closers.add("what is known of workspaces", async () => workspaces.close());
  const announceWorkspaces = () => bus.publishConfigChange("workspaces");
  const workspaceCommands = createWorkspaceCommands({ database, clock, judgeSpec, announceWorkspaces });
  const lifecycle = new WorkspaceLifecycle(
    {
      ...dependencies,
      provisioners: { local: directories, external: externalProvisioner(), ...callingProvisioners(config) },
      deploymentTtlMs: () => core.deploymentSettings.workspaceTtlMs(),
      onLeft: (workspaceId) => controlChannels.stop(workspaceId),
    },
    config.role !== "api",
  );
  lifecycle.start();
  closers.add("the work on workspaces", () => lifecycle.close());
  return { workspaces, workspaceCommands, use };
}

/** Their agents call the server. */
function callingProvisioners(config: Config) {
  const serverUrl = config.workspacesServerUrl ?? config.publicUrl ?? null;
  return {
    docker: new DockerWorkspaces({ engineUrl: config.dockerHost, serverUrl }),
    kubernetes: new KubernetesWorkspaces({
      ...{ kubeconfig: config.kubeconfig ?? null, namespace: config.kubernetesNamespace, serverUrl },
    }),
  };
}

function attachedAgent(config: Config): AttachedAgentOptions | null {
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
async function openLocations({ config, log, clock }: Core, closers: Closers): Promise<AgentLocations> {
  if (!config.redisUrl) return noAgentLocations;
  const { RedisAgentDirectory } = await import("../events/bus/agent-directory.js");
  const directory = new RedisAgentDirectory({ url: config.redisUrl, log, clock });
  closers.add("the directory of agents", () => directory.close());
  return directory;
}

/** The agent program of this very version: compiled, or from its source when the server runs from its source. */
function agentCommand(): string[] {
  const { file, nodeArguments } = siblingProgram("agent", "../agent/main", import.meta.url);
  return [process.execPath, ...nodeArguments, file];
}
