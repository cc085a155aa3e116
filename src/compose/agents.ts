/**
 * Composition of workspace agents: local ones, started on demand, and external ones, connected to this or another
 * replica.
 */
import { join } from "node:path";
import { type Config, processEnvironment } from "../config/config.js";
import { createWorkspaceCommands } from "../commands/workspaces/workspace-commands.js";
import type { WorkspaceCommands } from "../commands/workspaces/workspace-commands.js";
import { giveGitCredentials } from "../services/git/git-credentials.js";
import { WorkspaceContexts } from "../services/workspaces/workspace-contexts.js";
import { WorkspaceLifecycle } from "../services/workspaces/workspace-lifecycle.js";
import { WorkspaceMcpPermissions } from "../services/workspaces/workspace-mcp-permissions.js";
import { WorkspaceUse } from "../services/workspaces/workspace-use.js";
import { Workspaces } from "../services/workspaces/workspaces.js";
import { AgentEndpoint } from "../http/agent-endpoint.js";
import type { UpgradeHandler } from "../http/common/upgrades.js";
import {
  claimWorkspace,
  findWorkspaceOfAgent,
  isAgentExpected,
  isWellFormedAgentToken,
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
import { validateSpec } from "../workspaces/provisioners/specs.js";
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
  use: WorkspaceUse;
  local: LocalAgents;
  contexts: WorkspaceContexts;
  mcpPermissions: WorkspaceMcpPermissions;
  /** Accepts connections of agents, and of replicas that relay to them. */
  endpoint: UpgradeHandler;
};

/** Overrides for tests; absent = the defaults. */
export type Programs = {
  /** Command of a workspace agent: the program and its first arguments. */
  agentCommand?: readonly string[];
  /** Absent = the system clock. */
  clock?: Clock;
};

export async function openAgents(core: Core, closers: Closers, programs: Programs): Promise<Agents> {
  const { config, database, clock, log, secrets, transitionDependencies } = core;
  const registrations = registrationsIn(core);
  const locations = await openLocations(core, closers);
  const replicaSecret = config.replicaSecret ?? null;
  const connections = new AgentConnections({
    registrations,
    locations,
    replicaUrl: config.replicaUrl ?? null,
    clock,
    log,
  });
  closers.add("the agents' connections", () => connections.close());
  core.meters.observe("connected_agents", () => connections.count);
  const relays = new Relays({ secret: replicaSecret, clock, log });
  closers.add("the relays to other replicas", () => relays.close());
  const external = new ExternalAgents({ connections, relays, locations, registrations, clock, log });
  const program = {
    command: programs.agentCommand ?? agentCommand(),
    environment: { ...processEnvironment(), PARLEY_AGENT_HIDDEN_DIRS: config.dataDir },
    commandVariables: config.commandVariables,
  };
  // Closed after the agents, whose end aborts running reads.
  const contexts = new WorkspaceContexts({ clock, log });
  closers.add("the workspace contexts", () => contexts.close());
  const local = new LocalAgents({ ...program, attached: attachedAgent(config), log, clock });
  closers.add("the local agents", () => local.close());
  const credentialDependencies = { ...transitionDependencies, secrets, log };
  const controlChannels = new ControlChannels({
    answer: (workspaceId, request) => giveGitCredentials(credentialDependencies, workspaceId, request),
    ...{ clock, log, random: Math.random },
  });
  closers.add("the control channels", () => controlChannels.close());
  const own = openWorkspaces(core, { local, external, controlChannels }, closers);
  return {
    local,
    contexts,
    ...own,
    endpoint: new AgentEndpoint({
      connections,
      findWorkspace: async (token, tokenHash) =>
        isWellFormedAgentToken(token) ? findWorkspaceOfAgent(database, tokenHash) : null,
      replicaSecret,
      rateGate: core.rateGate,
      clock,
      log,
    }),
  };
}

type AgentTransports = { local: LocalAgents; external: ExternalAgents; controlChannels: ControlChannels };

/** Chats' access to workspaces, and the lifecycle of managed ones. */
function openWorkspaces(core: Core, { local, external, controlChannels }: AgentTransports, closers: Closers) {
  const { config, database, bus, clock, log } = core;
  const root = config.workspacesDir ?? join(config.dataDir, "workspaces");
  const saveDirectory = (id: string, directory: string) => setDirectory(database, id, directory);
  const directories = new LocalWorkspaces({ root, agents: local, saveDirectory });
  const use = new WorkspaceUse({ database, clock, log });
  closers.add("the last use of workspaces", () => use.close());
  const dependencies = { database, bus, local: directories, clock, log };
  const workspaces = new Workspaces({ ...dependencies, agents: local, external, controlChannels, use });
  closers.add("the workspaces", async () => workspaces.close());
  const announceWorkspaces = () => bus.publishConfigChange("workspaces");
  const findAgent = (workspaceId: string) => workspaces.present(workspaceId);
  const mcpPermissions = new WorkspaceMcpPermissions({ database, rules: config.mcpRules, findAgent, log });
  closers.add("the permissions of MCP servers", () => mcpPermissions.close());
  const workspaceCommands = createWorkspaceCommands({
    ...{ database, clock, validateSpec, announceWorkspaces },
    applyMcpPermissions: (workspaceId) => mcpPermissions.apply(workspaceId),
  });
  const lifecycle = new WorkspaceLifecycle(
    {
      ...dependencies,
      provisioners: { local: directories, external: externalProvisioner(), ...remoteProvisioners(config) },
      deploymentTtlMs: () => core.deploymentSettings.workspaceTtlMs(),
      onLeft: (workspaceId) => controlChannels.stop(workspaceId),
    },
    config.role !== "api",
  );
  lifecycle.start();
  closers.add("the workspace lifecycle", () => lifecycle.close());
  return { workspaces, workspaceCommands, use, mcpPermissions };
}

/** Provisioners whose agents connect to the server. */
function remoteProvisioners(config: Config) {
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

/** In Redis if configured; its client is loaded only then. */
async function openLocations({ config, log, clock }: Core, closers: Closers): Promise<AgentLocations> {
  if (!config.redisUrl) return noAgentLocations;
  const { RedisAgentDirectory } = await import("../events/bus/agent-directory.js");
  const directory = new RedisAgentDirectory({ url: config.redisUrl, log, clock });
  closers.add("the directory of agents", () => directory.close());
  return directory;
}

/** This version's agent program: compiled, or from source when the server runs from source. */
function agentCommand(): string[] {
  const { file, nodeArguments } = siblingProgram("agent", "../agent/program", import.meta.url);
  return [process.execPath, ...nodeArguments, file];
}
