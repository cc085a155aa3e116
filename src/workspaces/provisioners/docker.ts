/**
 * Provisioner of workspaces that are a container and a volume of a Docker engine. The volume has the files and survives
 * stops; every start creates a new container, with a new token for its agent, which connects to the server.
 */
import type Docker from "dockerode";
import { errorText } from "../../lib/text/error-text.js";
import { requestsTo } from "./engine-requests.js";
import { imageWithTag } from "./image-names.js";
import {
  ProvisionerError,
  type AgentLaunch,
  type ProvisionedWorkspace,
  type Provisioner,
  type RuntimeStatus,
} from "./provisioner.js";
import { agentCommandOf, dockerSpecSchema, readSpec, serverUrlOf, type DockerSpec } from "./specs.js";

export type DockerOptions = {
  /** `unix:///var/run/docker.sock`, or the engine's address: tcp://, http:// or https://. */
  engineUrl: string;
  /** Where agents connect; null = not configured, then the spec must say. */
  serverUrl: string | null;
};

/** Label of a container: the start that created it. */
const START_LABEL = "parley.start";
const WORKSPACE_LABEL = "parley.workspace";
/** Commands get this long to end; the agent itself needs half of it. */
const STOP_TIMEOUT_SECONDS = 10;
/** Restarts of a crashing agent; the engine's delay doubles, and is reset after ten seconds of running. */
const MAX_RESTARTS = 5;
/** Mount point of the folder on the engine's host that has the agent program. */
const AGENT_TARGET = "/opt/parley";
const MIB = 1024 * 1024;
const NANO = 1_000_000_000;

export class DockerWorkspaces implements Provisioner {
  #opened: Promise<Docker> | null = null;

  constructor(private readonly options: DockerOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const docker = await this.#docker();
    await request("create the volume", () =>
      // The engine returns the existing volume of that name, if there is one.
      docker.createVolume({ Name: nameOf(workspace), Labels: labelsOf(workspace) }),
    );
  }

  async start(workspace: ProvisionedWorkspace, agent: AgentLaunch): Promise<"connecting"> {
    const spec = readSpec(dockerSpecSchema, workspace);
    const docker = await this.#docker();
    const found = await this.#inspect(workspace);
    if (found?.Config.Labels[START_LABEL] === agent.startId) {
      if (found.State.Running) return "connecting";
      if (found.State.Status !== "created") throw await this.#exitedEarly(workspace, found);
      // An earlier attempt created it and did not get to start it.
    } else {
      if (found) await this.#removeContainer(workspace);
      await this.#ensureImage(spec);
      const token = await agent.issueToken();
      const options = containerOptions(
        { workspace, spec, token, startId: agent.startId },
        serverUrlOf(spec, this.options),
      );
      await request("create the container", () => docker.createContainer(options));
    }
    await request("start the container", () => docker.getContainer(nameOf(workspace)).start());
    return "connecting";
  }

  stop(workspace: ProvisionedWorkspace): Promise<void> {
    return this.#removeContainer(workspace);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.#removeContainer(workspace);
    const volume = (await this.#docker()).getVolume(nameOf(workspace));
    await request("remove the volume", () => volume.remove({ force: true }), [NOT_FOUND]);
  }

  async status(workspace: ProvisionedWorkspace): Promise<RuntimeStatus> {
    const found = await this.#inspect(workspace);
    if (found === null) return { kind: "down", reason: "Its container is gone." };
    return found.State.Running ? { kind: "running" } : { kind: "down", reason: exitOf(found) };
  }

  /** The client is large, so it is loaded on first use. */
  #docker(): Promise<Docker> {
    this.#opened ??= import("dockerode").then(
      ({ default: Client }) => new Client(connectionOptions(this.options.engineUrl)),
    );
    return this.#opened;
  }

  async #inspect(workspace: ProvisionedWorkspace): Promise<Docker.ContainerInspectInfo | null> {
    const container = (await this.#docker()).getContainer(nameOf(workspace));
    return request("inspect the container", () => container.inspect(), [NOT_FOUND]);
  }

  async #removeContainer(workspace: ProvisionedWorkspace): Promise<void> {
    const container = (await this.#docker()).getContainer(nameOf(workspace));
    const stop = () => container.stop({ t: STOP_TIMEOUT_SECONDS });
    await request("stop the container", stop, [NOT_FOUND, NOT_MODIFIED]);
    const remove = () => container.remove({ force: true });
    await request("remove the container", remove, [NOT_FOUND]);
  }

  async #ensureImage({ image, pull }: DockerSpec): Promise<void> {
    const docker = await this.#docker();
    const inspect = () => docker.getImage(image).inspect();
    const isThere = (await request("inspect the image", inspect, [NOT_FOUND])) !== null;
    if (pull === "never" && !isThere) {
      throw new ProvisionerError(`The engine has no image ${image} and must not pull it.`, {
        isPermanent: true,
      });
    }
    if (pull === "never" || (isThere && pull === "missing")) return;
    await request(`pull the image ${image}`, async () => {
      const progress = await docker.pull(imageWithTag(image));
      await new Promise<void>((resolve, reject) => {
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    });
  }

  /** Removes the exited container of the current start, so that the next attempt creates another. */
  async #exitedEarly(
    workspace: ProvisionedWorkspace,
    found: Docker.ContainerInspectInfo,
  ): Promise<ProvisionerError> {
    await this.#removeContainer(workspace);
    return new ProvisionerError(`${exitOf(found)} Its agent did not connect.`, { isPermanent: true });
  }
}

type ContainerInput = { workspace: ProvisionedWorkspace; spec: DockerSpec; token: string; startId: string };

function containerOptions(
  { workspace, spec, token, startId }: ContainerInput,
  serverUrl: string,
): Docker.ContainerCreateOptions {
  const own = {
    PARLEY_AGENT_SERVER_URL: serverUrl,
    PARLEY_AGENT_TOKEN: token,
    PARLEY_AGENT_DIRECTORY: spec.directory,
    // The image and the template chose everything in the container for its commands.
    PARLEY_COMMAND_ENV: "*",
  };
  const environment = { ...spec.environment, ...own };
  const program: Docker.MountSettings[] =
    spec.agentPath === undefined
      ? []
      : [{ Type: "bind", Source: spec.agentPath, Target: AGENT_TARGET, ReadOnly: true }];
  const mounts = spec.mounts.map(({ source, target, readOnly }): Docker.MountSettings => {
    const type = source.startsWith("/") ? "bind" : "volume";
    return { Type: type, Source: source, Target: target, ReadOnly: readOnly };
  });
  return {
    name: nameOf(workspace),
    Image: spec.image,
    Entrypoint: [],
    Cmd: agentCommandOf(spec, AGENT_TARGET),
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    WorkingDir: spec.directory,
    Labels: { ...labelsOf(workspace), [START_LABEL]: startId },
    ...(spec.user !== undefined && { User: spec.user }),
    HostConfig: {
      // Reaps orphaned processes of commands.
      Init: true,
      // A crashed agent is restarted with the same token, a few times.
      RestartPolicy: { Name: "on-failure", MaximumRetryCount: MAX_RESTARTS },
      Mounts: [
        { Type: "volume", Source: nameOf(workspace), Target: spec.directory, ReadOnly: false },
        ...program,
        ...mounts,
      ],
      ...(spec.memoryMb !== undefined && { Memory: spec.memoryMb * MIB }),
      ...(spec.cpus !== undefined && { NanoCpus: Math.round(spec.cpus * NANO) }),
      ...(spec.network !== undefined && { NetworkMode: spec.network }),
    },
  };
}

function nameOf({ id }: ProvisionedWorkspace): string {
  return `parley-${id}`;
}

function labelsOf({ id, name, ownerId }: ProvisionedWorkspace): Record<string, string> {
  return { [WORKSPACE_LABEL]: id, "parley.name": name, "parley.owner": ownerId };
}

function exitOf({ State: { ExitCode, OOMKilled } }: Docker.ContainerInspectInfo): string {
  return `Its container has ended with exit code ${ExitCode}${OOMKilled ? ", out of memory" : ""}.`;
}

function connectionOptions(engineUrl: string): Docker.DockerOptions {
  const url = new URL(engineUrl);
  // `host: ""` overrides what the library would read from the environment.
  if (url.protocol === "unix:") return { socketPath: url.pathname, host: "" };
  const protocol = url.protocol === "https:" ? "https" : "http";
  return { protocol, host: url.hostname, port: url.port === "" ? DEFAULT_PORTS[protocol] : Number(url.port) };
}

const DEFAULT_PORTS = { http: 2_375, https: 2_376 };
const NOT_MODIFIED = 304;
const NOT_FOUND = 404;
const request = requestsTo({
  name: "The Docker engine",
  // Bad request, no access, no such image. A conflict may pass.
  permanent: new Set([400, 401, 403, NOT_FOUND]),
  statusOf,
  reasonOf: (error) => errorText(error).trim(),
});

function statusOf(error: unknown): number | null {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : null;
}
