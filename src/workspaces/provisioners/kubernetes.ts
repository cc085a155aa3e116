/**
 * Provisioner of workspaces that are a pod and a volume of a Kubernetes cluster. The volume has the files and survives
 * stops; every start creates a new pod, with a new token for its agent in a secret, which connects to the server.
 */
import type { CoreV1Api, V1Pod } from "@kubernetes/client-node";
import { withParameters } from "../../domain/workspaces/workspace-parameters.js";
import { errorText } from "../../lib/text/error-text.js";
import { requestsTo } from "./engine-requests.js";
import { claimOf, podOf, secretOf, START_LABEL, nameOf } from "./kubernetes-objects.js";
import {
  ProvisionerError,
  type AgentLaunch,
  type ProvisionedWorkspace,
  type Provisioner,
  type RuntimeStatus,
} from "./provisioner.js";
import { kubernetesSpecSchema, readSpec, serverUrlOf } from "./specs.js";

export type KubernetesOptions = {
  /** A file; null = kubectl's default, or the pod's own service account. */
  kubeconfig: string | null;
  /** The default, for specs that name none. */
  namespace: string;
  /** Where agents connect; null = not configured, then the spec must say. */
  serverUrl: string | null;
};

/** Commands get this long to end; the agent itself needs half of it. */
const STOP_TIMEOUT_SECONDS = 10;

export class KubernetesWorkspaces implements Provisioner {
  #opened: Promise<CoreV1Api> | null = null;

  constructor(private readonly options: KubernetesOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const spec = readSpec(kubernetesSpecSchema, workspace);
    const { api, namespace } = await this.#target(workspace);
    const body = claimOf(workspace, spec);
    await request("create the volume", () => api.createNamespacedPersistentVolumeClaim({ namespace, body }), [
      CONFLICT,
    ]);
  }

  async start(workspace: ProvisionedWorkspace, agent: AgentLaunch): Promise<"connecting"> {
    const spec = readSpec(kubernetesSpecSchema, workspace);
    const target = await this.#target(workspace);
    const found = await readPod(target);
    if (found?.metadata?.labels?.[START_LABEL] === agent.startId && !found.metadata.deletionTimestamp) {
      const why = whyDown(found);
      if (why === null) return "connecting";
      await removePod(target);
      throw new ProvisionerError(`${why} Its agent did not connect.`, { isPermanent: true });
    }
    if (found) {
      await removePod(target);
      throw new ProvisionerError("Its former pod is still being removed.", { isPermanent: false });
    }
    const { api, namespace, name } = target;
    const serverUrl = serverUrlOf(spec, this.options);
    const secret = secretOf(workspace, await agent.issueToken());
    const created = await request(
      "create the secret",
      () => api.createNamespacedSecret({ namespace, body: secret }),
      [CONFLICT],
    );
    if (created === null) {
      await request("replace the secret", () =>
        api.replaceNamespacedSecret({ namespace, name, body: secret }),
      );
    }
    const pod = podOf(workspace, spec, { startId: agent.startId, serverUrl });
    await request("create the pod", () => api.createNamespacedPod({ namespace, body: pod }));
    return "connecting";
  }

  /** The pod may take some seconds more to terminate; a start waits for that. */
  async stop(workspace: ProvisionedWorkspace): Promise<void> {
    const target = await this.#target(workspace);
    await removePod(target);
    const { api, namespace, name } = target;
    await request("remove the secret", () => api.deleteNamespacedSecret({ namespace, name }), [NOT_FOUND]);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.stop(workspace);
    const { api, namespace, name } = await this.#target(workspace);
    const remove = () => api.deleteNamespacedPersistentVolumeClaim({ namespace, name });
    await request("remove the volume", remove, [NOT_FOUND]);
  }

  async status(workspace: ProvisionedWorkspace): Promise<RuntimeStatus> {
    const found = await readPod(await this.#target(workspace));
    if (found === null) return { kind: "down", reason: "Its pod is gone." };
    const reason = whyDown(found);
    return reason === null ? { kind: "running" } : { kind: "down", reason };
  }

  /** Does not validate the spec: a workspace with an invalid one must be removable. */
  async #target(workspace: ProvisionedWorkspace): Promise<PodTarget> {
    const { namespace } = withParameters(workspace.spec, workspace.parameters);
    return {
      api: await this.#api(),
      namespace: typeof namespace === "string" ? namespace : this.options.namespace,
      name: nameOf(workspace),
    };
  }

  /** The client is large, so it is loaded on first use. */
  #api(): Promise<CoreV1Api> {
    this.#opened ??= openApi(this.options.kubeconfig).catch((error: unknown) => {
      this.#opened = null;
      throw new ProvisionerError(`The cluster's settings cannot be used: ${errorText(error)}`, {
        ...{ isPermanent: true, cause: error },
      });
    });
    return this.#opened;
  }
}

type PodTarget = { api: CoreV1Api; namespace: string; name: string };

async function openApi(kubeconfig: string | null): Promise<CoreV1Api> {
  const { CoreV1Api: Api, KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (kubeconfig === null) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  return config.makeApiClient(Api);
}

function readPod({ api, namespace, name }: PodTarget): Promise<V1Pod | null> {
  return request("read the pod", () => api.readNamespacedPod({ namespace, name }), [NOT_FOUND]);
}

async function removePod({ api, namespace, name }: PodTarget): Promise<void> {
  const gracePeriodSeconds = STOP_TIMEOUT_SECONDS;
  const remove = () => api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds });
  await request("remove the pod", remove, [NOT_FOUND]);
}

/** Reasons of waiting containers that do not pass by themselves; all others may. */
const STUCK_REASONS = new Set([
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "CrashLoopBackOff",
]);

/** Why the pod does not run and will not, as a sentence for users; null = it runs or is starting. */
function whyDown({ status, metadata }: V1Pod): string | null {
  if (metadata?.deletionTimestamp) return "Its pod is being removed.";
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const stuck = all.find(({ state }) => STUCK_REASONS.has(state?.waiting?.reason ?? ""));
  const ended = all.flatMap((it) => it.lastState?.terminated ?? it.state?.terminated ?? [])[0];
  const how = ended ? ` with exit code ${ended.exitCode}${ended.reason ? ` (${ended.reason})` : ""}` : "";
  if (stuck) {
    const { reason = "", message = "" } = stuck.state?.waiting ?? {};
    return reason === "CrashLoopBackOff"
      ? `Its container ends again and again${how}.`
      : `${reason}: ${message}.`;
  }
  const isOver = status?.phase === "Failed" || status?.phase === "Succeeded";
  if (!isOver) return null;
  return `Its pod has ended${how}.${status.message ? ` ${status.message}` : ""}`;
}

const NOT_FOUND = 404;
const CONFLICT = 409;
const request = requestsTo({
  name: "The cluster",
  // No access, invalid objects. A conflict or an exceeded quota may pass.
  permanent: new Set([400, 401, NOT_FOUND, 422]),
  statusOf,
  reasonOf: (error, status) => statusMessageOf(error) ?? `HTTP ${status}`,
});

/** The status of the library's `ApiException`. */
function statusOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : null;
}

/** The message of the cluster's `Status` object; the error's own message includes all headers. */
function statusMessageOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("body" in error)) return null;
  const { body } = error;
  try {
    const status: unknown = typeof body === "string" ? JSON.parse(body) : body;
    const isStatus = typeof status === "object" && status !== null && "message" in status;
    return isStatus && typeof status.message === "string" ? status.message : null;
  } catch {
    return null; // Not JSON: a proxy's page.
  }
}
