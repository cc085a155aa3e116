/**
 * Workspaces that are a pod and a volume of a Kubernetes cluster. The volume has the files and outlives stops; the pod
 * is made anew with every start, with a new token for its agent in a secret, and calls the server.
 */
import type { CoreV1Api, V1Pod } from "@kubernetes/client-node";
import { withParameters } from "../../domain/workspaces/workspace-parameters.js";
import { askingOf } from "./engine-requests.js";
import { claimOf, podOf, secretOf, START_LABEL, nameOf } from "./kubernetes-objects.js";
import {
  ProvisionerError,
  type CallingAgent,
  type ProvisionedWorkspace,
  type Provisioner,
  type Standing,
} from "./provisioner.js";
import { kubernetesSpecSchema, readSpec, serverUrlOf } from "./specs.js";

export type KubernetesOptions = {
  /** A file; null = where kubectl looks, or the pod's own service account. */
  kubeconfig: string | null;
  /** Of workspaces whose spec names none. */
  namespace: string;
  /** Where agents call; null = nobody has said, then the spec must. */
  serverUrl: string | null;
};

/** Commands get this long to end; the agent itself needs half of it. */
const STOP_TIMEOUT_SECONDS = 10;

export class KubernetesWorkspaces implements Provisioner {
  #opened: Promise<CoreV1Api> | null = null;

  constructor(private readonly options: KubernetesOptions) {}

  async create(workspace: ProvisionedWorkspace): Promise<void> {
    const spec = readSpec(kubernetesSpecSchema, workspace);
    const { api, namespace } = await this.#at(workspace);
    const body = claimOf(workspace, spec);
    await asking("make the volume", () => api.createNamespacedPersistentVolumeClaim({ namespace, body }), [
      CONFLICT,
    ]);
  }

  async start(workspace: ProvisionedWorkspace, agent: CallingAgent): Promise<"calling"> {
    const spec = readSpec(kubernetesSpecSchema, workspace);
    const at = await this.#at(workspace);
    const found = await readPod(at);
    if (found?.metadata?.labels?.[START_LABEL] === agent.startId && !found.metadata.deletionTimestamp) {
      const why = whyDown(found);
      if (why === null) return "calling";
      await removePod(at);
      throw new ProvisionerError(`${why} Its agent did not come to call.`, { isLasting: true });
    }
    if (found) {
      await removePod(at);
      throw new ProvisionerError("Its former pod is still being removed.", { isLasting: false });
    }
    const { api, namespace, name } = at;
    const serverUrl = serverUrlOf(spec, this.options);
    const secret = secretOf(workspace, await agent.issueToken());
    const made = await asking(
      "make the secret",
      () => api.createNamespacedSecret({ namespace, body: secret }),
      [CONFLICT],
    );
    if (made === null) {
      await asking("change the secret", () => api.replaceNamespacedSecret({ namespace, name, body: secret }));
    }
    const pod = podOf(workspace, spec, { startId: agent.startId, serverUrl });
    await asking("make the pod", () => api.createNamespacedPod({ namespace, body: pod }));
    return "calling";
  }

  /** The pod may take some seconds more to end; a start waits for that. */
  async stop(workspace: ProvisionedWorkspace): Promise<void> {
    const at = await this.#at(workspace);
    await removePod(at);
    const { api, namespace, name } = at;
    await asking("remove the secret", () => api.deleteNamespacedSecret({ namespace, name }), [NOT_FOUND]);
  }

  async remove(workspace: ProvisionedWorkspace): Promise<void> {
    await this.stop(workspace);
    const { api, namespace, name } = await this.#at(workspace);
    const remove = () => api.deleteNamespacedPersistentVolumeClaim({ namespace, name });
    await asking("remove the volume", remove, [NOT_FOUND]);
  }

  async status(workspace: ProvisionedWorkspace): Promise<Standing> {
    const found = await readPod(await this.#at(workspace));
    if (found === null) return { kind: "down", reason: "Its pod is gone." };
    const reason = whyDown(found);
    return reason === null ? { kind: "running" } : { kind: "down", reason };
  }

  /** Also of one whose spec makes no sense with its parameters: it must be possible to remove it. */
  async #at(workspace: ProvisionedWorkspace): Promise<Place> {
    const { namespace } = withParameters(workspace.spec, workspace.parameters);
    return {
      api: await this.#api(),
      namespace: typeof namespace === "string" ? namespace : this.options.namespace,
      name: nameOf(workspace),
    };
  }

  /** Its client is loaded only where there are such workspaces: it is large. */
  #api(): Promise<CoreV1Api> {
    this.#opened ??= openApi(this.options.kubeconfig).catch((error: unknown) => {
      this.#opened = null;
      const words = error instanceof Error ? error.message : String(error);
      throw new ProvisionerError(`The cluster's settings cannot be used: ${words}`, {
        ...{ isLasting: true, cause: error },
      });
    });
    return this.#opened;
  }
}

type Place = { api: CoreV1Api; namespace: string; name: string };

async function openApi(kubeconfig: string | null): Promise<CoreV1Api> {
  const { CoreV1Api: Api, KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (kubeconfig === null) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  return config.makeApiClient(Api);
}

function readPod({ api, namespace, name }: Place): Promise<V1Pod | null> {
  return asking("look for the pod", () => api.readNamespacedPod({ namespace, name }), [NOT_FOUND]);
}

async function removePod({ api, namespace, name }: Place): Promise<void> {
  const gracePeriodSeconds = STOP_TIMEOUT_SECONDS;
  const remove = () => api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds });
  await asking("remove the pod", remove, [NOT_FOUND]);
}

/** What the kubelet waits for in vain; of everything else it may think better. */
const HOPELESS = new Set([
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "CrashLoopBackOff",
]);

/** Why the pod does not run and will not, for people; null = it does, or is on its way. */
function whyDown({ status, metadata }: V1Pod): string | null {
  if (metadata?.deletionTimestamp) return "Its pod is being removed.";
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const stuck = all.find(({ state }) => HOPELESS.has(state?.waiting?.reason ?? ""));
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
const asking = askingOf({
  name: "The cluster",
  // No access, an object that is wrong. Of a conflict or a quota it may think better.
  lasting: new Set([400, 401, NOT_FOUND, 422]),
  statusOf,
  wordsOf: (error, status) => wordsOf(error) ?? `HTTP ${status}`,
});

/** Of the library's `ApiException`. */
function statusOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : null;
}

/** The message of the `Status` that the cluster answered; the error's own would tell all headers. */
function wordsOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("body" in error)) return null;
  const { body } = error;
  try {
    const status: unknown = typeof body === "string" ? JSON.parse(body) : body;
    const isStatus = typeof status === "object" && status !== null && "message" in status;
    return isStatus && typeof status.message === "string" ? status.message : null;
  } catch {
    return null; // Not JSON: a proxy's page, which nobody wants to read.
  }
}
