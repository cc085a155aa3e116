// A Docker engine as its API describes it (v1.47), without the containers: what a container would run is run here, as a
// process of this machine whose folders are those of the volumes. For tests of what uses the engine by its real client.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT_PROGRAM } from "../build.js";

type Mount = { Type: string; Source: string; Target: string; ReadOnly: boolean };
export type ContainerWanted = {
  Image: string;
  Cmd: string[];
  Env: string[];
  WorkingDir: string;
  User?: string;
  Labels: Record<string, string>;
  HostConfig: {
    Mounts: Mount[];
    Memory?: number;
    NanoCpus?: number;
    NetworkMode?: string;
    Init?: boolean;
    RestartPolicy?: { Name: string; MaximumRetryCount?: number };
  };
};
type Container = {
  wanted: ContainerWanted;
  child: ChildProcess | null;
  status: "created" | "running" | "exited";
  exitCode: number;
  /** Set by a stop request: the container is not restarted. */
  isStopped: boolean;
};

export class DockerEngine {
  readonly containers = new Map<string, Container>();
  readonly volumes = new Map<string, string>();
  /** Images that exist locally. */
  readonly images = new Set<string>();
  /** Images that can be pulled. */
  readonly registry = new Set(["parley-agent:latest"]);
  /** Each request, as `POST /containers/create`, ids left out. */
  readonly asked: string[] = [];
  /** What containers run instead of their agent. */
  command: string[] | null = null;
  readonly #ended: Promise<unknown>[] = [];

  private constructor(
    readonly folder: string,
    readonly url: string,
    private readonly close: () => Promise<void>,
  ) {}

  static async start(): Promise<DockerEngine> {
    const folder = await mkdtemp(join(tmpdir(), "docker-"));
    const socketPath = join(folder, "engine.sock");
    const server = createServer((request, response) => {
      engine.#answer(request, response).catch((error: unknown) => {
        reply(response, 500, { message: String(error) });
      });
    });
    server.listen(socketPath);
    await once(server, "listening");
    const engine = new DockerEngine(folder, `unix://${socketPath}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return engine;
  }

  async #end(name: string): Promise<void> {
    const container = this.containers.get(name);
    if (!container?.child) return;
    container.isStopped = true;
    const gone = once(container.child, "exit");
    container.child.kill("SIGKILL");
    await gone;
  }

  async stop(): Promise<void> {
    for (const name of this.containers.keys()) await this.#end(name);
    await this.close();
    await Promise.all(this.#ended);
    await rm(this.folder, { recursive: true, force: true });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://engine");
    const path = url.pathname.replace(/^\/v[\d.]+/, "");
    const [, kind = "", first = "", second = ""] = path.split("/").map(decodeURIComponent);
    const body: unknown = JSON.parse((await textOf(request)) || "{}");
    const method = request.method ?? "";
    this.asked.push(`${method} ${path.replaceAll(/parley-[0-9a-f-]{36}/g, "ID")}`);
    if (kind === "volumes") return this.#onVolume(response, method, { name: first, body });
    if (kind === "images") return this.#onImage(response, { path, from: url.searchParams });
    if (kind !== "containers") return reply(response, 404, { message: "page not found" });
    if (first === "create") {
      return this.#create(response, url.searchParams.get("name") ?? "", body as ContainerWanted);
    }
    const container = this.containers.get(first);
    if (!container) return reply(response, 404, { message: `No such container: ${first}` });
    if (method === "DELETE") {
      await this.#end(first);
      this.containers.delete(first);
      return reply(response, 204);
    }
    if (second === "json") return reply(response, 200, shown(first, container));
    if (second === "start") return this.#start(response, container);
    if (second === "stop") {
      const isRunning = container.status === "running";
      await this.#end(first);
      return reply(response, isRunning ? 204 : 304);
    }
    reply(response, 404, { message: "page not found" });
  }

  async #onVolume(
    response: ServerResponse,
    method: string,
    { name, body }: { name: string; body: unknown },
  ): Promise<void> {
    if (method === "POST") {
      const wanted = body as { Name: string; Labels: object };
      const folder = this.volumes.get(wanted.Name) ?? join(this.folder, wanted.Name);
      await mkdir(folder, { recursive: true });
      this.volumes.set(wanted.Name, folder);
      const { Name, Labels } = wanted;
      return reply(response, 201, { Name, Labels, Driver: "local", Mountpoint: folder, Scope: "local" });
    }
    const folder = this.volumes.get(name);
    if (folder === undefined) return reply(response, 404, { message: `get ${name}: no such volume` });
    const isUsed = [...this.containers.values()].some(({ wanted }) =>
      wanted.HostConfig.Mounts.some(({ Source }) => Source === name),
    );
    if (isUsed) return reply(response, 409, { message: `remove ${name}: volume is in use` });
    this.volumes.delete(name);
    await rm(folder, { recursive: true, force: true });
    reply(response, 204);
  }

  #onImage(response: ServerResponse, { path, from }: { path: string; from: URLSearchParams }): void {
    if (path === "/images/create") {
      const image = from.has("tag")
        ? `${from.get("fromImage")}:${from.get("tag")}`
        : (from.get("fromImage") ?? "");
      if (!this.registry.has(image)) {
        return reply(response, 404, { message: `manifest for ${image} not found: manifest unknown` });
      }
      this.images.add(image);
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`${JSON.stringify({ status: "Pulling from library/parley-agent", id: "latest" })}\r\n`);
      response.end(`${JSON.stringify({ status: `Status: Downloaded newer image for ${image}` })}\r\n`);
      return;
    }
    const name = decodeURIComponent(path.slice("/images/".length, -"/json".length));
    const full = name.includes(":") ? name : `${name}:latest`;
    if (!this.images.has(full)) return reply(response, 404, { message: `No such image: ${full}` });
    reply(response, 200, { Id: "sha256:0123", RepoTags: [full], Os: "linux" });
  }

  #create(response: ServerResponse, name: string, wanted: ContainerWanted): void {
    if (this.containers.has(name)) {
      const message = `Conflict. The container name "/${name}" is already in use by container "0123".`;
      return reply(response, 409, { message });
    }
    this.containers.set(name, { wanted, child: null, status: "created", exitCode: 0, isStopped: false });
    reply(response, 201, { Id: "0123456789abcdef", Warnings: [] });
  }

  #start(response: ServerResponse, container: Container): void {
    if (container.status === "running") return reply(response, 304);
    this.#run(container, 0);
    reply(response, 204);
  }

  #run(container: Container, restarts: number): void {
    const { Env, HostConfig, WorkingDir } = container.wanted;
    const inFolders = Env.map((line) => this.#inFolders(line, HostConfig.Mounts));
    const environment = Object.fromEntries(inFolders.map((line) => line.split(/=(.*)/s, 2)));
    const [program = "", ...args] = this.command ?? [process.execPath, AGENT_PROGRAM];
    const child = spawn(program, args, {
      cwd: this.#inFolders(WorkingDir, HostConfig.Mounts),
      env: { PATH: process.env["PATH"], HOME: this.folder, ...environment },
      stdio: "ignore",
    });
    Object.assign(container, { child, status: "running" });
    this.#ended.push(
      once(child, "exit").then(([code]: unknown[]) => {
        const exitCode = typeof code === "number" ? code : 137;
        const { Name, MaximumRetryCount = 0 } = HostConfig.RestartPolicy ?? {};
        const comesBack = Name === "on-failure" && exitCode !== 0 && restarts < MaximumRetryCount;
        Object.assign(container, { child: null, status: "exited", exitCode });
        if (comesBack && !container.isStopped) this.#run(container, restarts + 1);
      }),
    );
  }

  /** Paths in the container are those of the volumes' folders here. */
  #inFolders(text: string, mounts: readonly Mount[]): string {
    return mounts.reduce(
      (so, { Source, Target }) => so.replace(Target, this.volumes.get(Source) ?? Source),
      text,
    );
  }
}

function shown(name: string, { wanted, status, exitCode }: Container): object {
  return {
    Id: "0123456789abcdef",
    Name: `/${name}`,
    State: { Status: status, Running: status === "running", OOMKilled: false, ExitCode: exitCode, Error: "" },
    Config: { Image: wanted.Image, Env: wanted.Env, Cmd: wanted.Cmd, Labels: wanted.Labels },
    HostConfig: wanted.HostConfig,
  };
}

function reply(response: ServerResponse, status: number, body?: object): void {
  if (body === undefined) return void response.writeHead(status).end();
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
