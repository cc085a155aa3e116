/**
 * Workspaces that are a container and a volume of a Docker engine. The volume has the files and outlives stops; the
 * container is made anew with every start, with a new token for its agent, and calls the server.
 */
import type Docker from "dockerode";
import { errorText } from "../../lib/text/error-text.js";
import { askingOf } from "./engine-requests.js";
import { imageWithTag } from "./image-names.js";
import {
  ProvisionerError,
  type CallingAgent,
  type ProvisionedWorkspace,
  type Provisioner,
  type Standing,
} from "./provisioner.js";
import { agentCommandOf, dockerSpecSchema, readSpec, serverUrlOf, type DockerSpec } from "./specs.js";

export type DockerOptions = {
  /** `unix:///var/run/docker.sock`, or the engine's address: tcp://, http:// or https://. */
  engineUrl: string;
  /** Where agents call; null = nobody has said, then the spec must. */
  serverUrl: string | null;
};

/** Of a container: names the start that made it. */
const START_LABEL = "parley.start";
const WORKSPACE_LABEL = "parley.workspace";
/** Commands get this long to end; the agent itself needs half of it. */
const STOP_TIMEOUT_SECONDS = 10;
/** Of an agent that dies; the engine waits longer each time, and begins anew after ten good seconds. */
const MAX_RESTARTS = 5;
/** Where a folder of the engine's machine that has the agent program is mounted. */
const AGENT_TARGET = "/opt/parley";
const MIB = 1024 * 1024;
const NANO = 1_000_000_000;

export class DockerWorkspaces implements Provisioner {
  #opened: Promise<Docker> | null = null;

  constructor(private readonly options: DockerOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const docker = await this.#docker();
    await asking("make the volume", () =>
      // Of a name that is there the engine answers with what is there.
      docker.createVolume({ Name: nameOf(workspace), Labels: labelsOf(workspace) }),
    );
  }

  async start(workspace: ProvisionedWorkspace, agent: CallingAgent): Promise<"calling"> {
    const spec = readSpec(dockerSpecSchema, workspace);
    const docker = await this.#docker();
    const found = await this.#inspect(workspace);
    if (found?.Config.Labels[START_LABEL] === agent.startId) {
      if (found.State.Running) return "calling";
      if (found.State.Status !== "created") throw await this.#endedAtOnce(workspace, found);
      // Whoever made it came no further.
    } else {
      if (found) await this.#removeContainer(workspace);
      await this.#ensureImage(spec);
      const token = await agent.issueToken();
      const wanted = containerOptions(
        { workspace, spec, token, startId: agent.startId },
        serverUrlOf(spec, this.options),
      );
      await asking("make the container", () => docker.createContainer(wanted));
    }
    await asking("start the container", () => docker.getContainer(nameOf(workspace)).start());
    return "calling";
  }

  stop(workspace: ProvisionedWorkspace): Promise<void> {
    return this.#removeContainer(workspace);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.#removeContainer(workspace);
    const volume = (await this.#docker()).getVolume(nameOf(workspace));
    await asking("remove the volume", () => volume.remove({ force: true }), [NOT_FOUND]);
  }

  async status(workspace: ProvisionedWorkspace): Promise<Standing> {
    const found = await this.#inspect(workspace);
    if (found === null) return { kind: "down", reason: "Its container is gone." };
    return found.State.Running ? { kind: "running" } : { kind: "down", reason: endOf(found) };
  }

  /** Its client is loaded only where there are such workspaces: it is large. */
  #docker(): Promise<Docker> {
    this.#opened ??= import("dockerode").then(
      ({ default: Client }) => new Client(connectionOptions(this.options.engineUrl)),
    );
    return this.#opened;
  }

  async #inspect(workspace: ProvisionedWorkspace): Promise<Docker.ContainerInspectInfo | null> {
    const container = (await this.#docker()).getContainer(nameOf(workspace));
    return asking("look for the container", () => container.inspect(), [NOT_FOUND]);
  }

  async #removeContainer(workspace: ProvisionedWorkspace): Promise<void> {
    const container = (await this.#docker()).getContainer(nameOf(workspace));
    const stop = () => container.stop({ t: STOP_TIMEOUT_SECONDS });
    await asking("stop the container", stop, [NOT_FOUND, NOT_MODIFIED]);
    const remove = () => container.remove({ force: true });
    await asking("remove the container", remove, [NOT_FOUND]);
  }

  async #ensureImage({ image, pull }: DockerSpec): Promise<void> {
    const docker = await this.#docker();
    const inspect = () => docker.getImage(image).inspect();
    const isThere = (await asking("look for the image", inspect, [NOT_FOUND])) !== null;
    if (pull === "never" && !isThere) {
      throw new ProvisionerError(`The engine has no image ${image}, and may not fetch it.`, {
        isLasting: true,
      });
    }
    if (pull === "never" || (isThere && pull === "missing")) return;
    await asking(`fetch the image ${image}`, async () => {
      const progress = await docker.pull(imageWithTag(image));
      await new Promise<void>((resolve, reject) => {
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    });
  }

  /** The container of this very start is over: it goes, so that the next start begins anew. */
  async #endedAtOnce(
    workspace: ProvisionedWorkspace,
    found: Docker.ContainerInspectInfo,
  ): Promise<ProvisionerError> {
    await this.#removeContainer(workspace);
    return new ProvisionerError(`${endOf(found)} Its agent did not come to call.`, { isLasting: true });
  }
}

type Making = { workspace: ProvisionedWorkspace; spec: DockerSpec; token: string; startId: string };

function containerOptions(
  { workspace, spec, token, startId }: Making,
  serverUrl: string,
): Docker.ContainerCreateOptions {
  const own = {
    PARLEY_AGENT_SERVER_URL: serverUrl,
    PARLEY_AGENT_TOKEN: token,
    PARLEY_AGENT_DIRECTORY: spec.directory,
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
      // Reaps what commands leave behind.
      Init: true,
      // An agent that dies comes back with the same token; one that cannot live is given up.
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

function endOf({ State: { ExitCode, OOMKilled } }: Docker.ContainerInspectInfo): string {
  return `Its container has ended with exit code ${ExitCode}${OOMKilled ? ", out of memory" : ""}.`;
}

function connectionOptions(engineUrl: string): Docker.DockerOptions {
  const url = new URL(engineUrl);
  // What the library would read from the environment is not to count.
  if (url.protocol === "unix:") return { socketPath: url.pathname, host: "" };
  const protocol = url.protocol === "https:" ? "https" : "http";
  return { protocol, host: url.hostname, port: url.port === "" ? DEFAULT_PORTS[protocol] : Number(url.port) };
}

const DEFAULT_PORTS = { http: 2_375, https: 2_376 };
const NOT_MODIFIED = 304;
const NOT_FOUND = 404;
const asking = askingOf({
  name: "The Docker engine",
  // A bad request, no access, no such image. Of a conflict it may think better.
  lasting: new Set([400, 401, 403, NOT_FOUND]),
  statusOf,
  wordsOf: (error) => errorText(error).trim(),
});

function statusOf(error: unknown): number | null {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : null;
}
