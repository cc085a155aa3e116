// A Kubernetes cluster as its API describes it (core/v1), without the nodes: what a pod would run is run here, as a
// process of this machine whose folder is that of the volume. For tests of what uses the cluster by its real client.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { V1Pod, V1Secret } from "@kubernetes/client-node";
import { AGENT_PROGRAM } from "../build.js";

type Kind = "pods" | "secrets" | "persistentvolumeclaims";
type Stored = { metadata: { name: string; labels?: Record<string, string>; uid?: string } } & Record<
  string,
  unknown
>;
const KINDS: Record<Kind, string> = {
  pods: "Pod",
  secrets: "Secret",
  persistentvolumeclaims: "PersistentVolumeClaim",
};

export class KubernetesCluster {
  readonly objects = { pods: new Map(), secrets: new Map(), persistentvolumeclaims: new Map() } as Record<
    Kind,
    Map<string, Stored>
  >;
  /** Each request, as `POST secrets`; of wrong tokens none. */
  readonly asked: string[] = [];
  /** What containers run instead of their agent. */
  command: string[] | null = null;
  /** What the kubelet says that it waits for; then nothing runs. */
  waitingFor: { reason: string; message: string } | null = null;
  readonly #children = new Map<string, ChildProcess>();
  readonly #ended: Promise<unknown>[] = [];

  private constructor(
    readonly folder: string,
    /** The file that says where the cluster is and who one is there. */
    readonly kubeconfig: string,
    private readonly close: () => Promise<void>,
  ) {}

  static async start(): Promise<KubernetesCluster> {
    const folder = await mkdtemp(join(tmpdir(), "cluster-"));
    const server = createServer((request, response) => {
      cluster.#answer(request, response).catch((error: unknown) => refuse(response, 500, String(error)));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const kubeconfig = join(folder, "kubeconfig.yaml");
    await writeFile(kubeconfig, configFor((server.address() as AddressInfo).port));
    const cluster = new KubernetesCluster(folder, kubeconfig, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return cluster;
  }

  async stop(): Promise<void> {
    for (const name of this.#children.keys()) this.#children.get(name)?.kill("SIGKILL");
    await Promise.all(this.#ended);
    await this.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  pod(name: string): V1Pod | undefined {
    return this.objects.pods.get(name) as V1Pod | undefined;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return refuse(response, 401, "Unauthorized");
    const [, namespace, kind, name] =
      /^\/api\/v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(
        new URL(request.url ?? "", "http://cluster").pathname,
      ) ?? [];
    if (namespace !== "here" || kind === undefined || !isKind(kind)) {
      return refuse(response, 404, "the server could not find the requested resource");
    }
    const method = request.method ?? "";
    this.asked.push(`${method} ${kind}`);
    const text = await textOf(request);
    const objects = this.objects[kind];
    if (method === "POST") {
      const wanted = JSON.parse(text) as Stored;
      const { name: wantedName } = wanted.metadata;
      if (objects.has(wantedName)) {
        return refuse(response, 409, `${kind} "${wantedName}" already exists`, "AlreadyExists");
      }
      objects.set(wantedName, { ...wanted, metadata: { ...wanted.metadata, uid: "0123" } });
      if (kind === "pods") await this.#run(wantedName, wanted as unknown as V1Pod);
      return answer(response, 201, kind, objects.get(wantedName));
    }
    const found = objects.get(name ?? "");
    if (name === undefined || !found) return refuse(response, 404, `${kind} "${name}" not found`, "NotFound");
    if (method === "PUT") objects.set(name, JSON.parse(text) as Stored);
    if (method === "DELETE") {
      if (kind === "pods") await this.#end(name);
      objects.delete(name);
    }
    answer(response, 200, kind, kind === "pods" ? this.#shown(found, name) : (objects.get(name) ?? found));
  }

  async #run(name: string, pod: V1Pod): Promise<void> {
    if (this.waitingFor) return;
    const [container] = pod.spec?.containers ?? [];
    const directory = join(this.folder, name);
    await mkdir(directory, { recursive: true });
    const secret = this.objects.secrets.get(name) as V1Secret | undefined;
    const environment = (container?.env ?? []).map(({ name: variable, value, valueFrom }) => {
      const key = valueFrom?.secretKeyRef?.key;
      return [variable, key === undefined ? value : secret?.stringData?.[key]];
    });
    const [program = "", ...args] = this.command ?? [process.execPath, AGENT_PROGRAM];
    const child = spawn(program, args, {
      cwd: directory,
      env: {
        ...{ PATH: process.env["PATH"], HOME: this.folder, ...Object.fromEntries(environment) },
        PARLEY_AGENT_DIRECTORY: directory,
      },
      stdio: "ignore",
    });
    this.#children.set(name, child);
    this.#ended.push(once(child, "exit").then(() => this.#children.delete(name)));
  }

  async #end(name: string): Promise<void> {
    const child = this.#children.get(name);
    if (!child) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  #shown(pod: Stored, name: string): object {
    const state = this.waitingFor ? { waiting: this.waitingFor } : { running: {} };
    const isOver = !this.waitingFor && !this.#children.has(name);
    const ended = { terminated: { exitCode: 1, reason: "Error" } };
    return {
      ...pod,
      status: {
        phase: this.waitingFor ? "Pending" : isOver ? "Failed" : "Running",
        containerStatuses: [{ name: "workspace", restartCount: 0, state: isOver ? ended : state }],
      },
    };
  }
}

const TOKEN = "token-of-the-service-account";

function configFor(port: number): string {
  return `apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: here, cluster: { server: "http://127.0.0.1:${port}", insecure-skip-tls-verify: true } }]
users: [{ name: parley, user: { token: "${TOKEN}" } }]
contexts: [{ name: here, context: { cluster: here, user: parley } }]
`;
}

function isKind(kind: string): kind is Kind {
  return kind in KINDS;
}

function answer(response: ServerResponse, status: number, kind: Kind, object: object | undefined): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ apiVersion: "v1", kind: KINDS[kind], ...object }));
}

function refuse(response: ServerResponse, code: number, message: string, reason = ""): void {
  response.writeHead(code, { "content-type": "application/json" });
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  response.end(JSON.stringify(status));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
