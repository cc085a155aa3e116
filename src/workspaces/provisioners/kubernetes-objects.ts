/** The Kubernetes objects of a workspace, all of the same name. Pure. */
import type { V1Container, V1PersistentVolumeClaim, V1Pod, V1Secret } from "@kubernetes/client-node";
import type { ProvisionedWorkspace } from "./provisioner.js";
import { agentCommandOf, type KubernetesSpec } from "./specs.js";

/** Label of a pod: the start that created it. */
export const START_LABEL = "parley.dev/start";
const TOKEN_KEY = "token";
/** Path of the agent program, in its own image and in the workspace. */
const AGENT_FOLDER = "/opt/parley";
const COPY_FOLDER = "/parley-copy";
const AGENT_VOLUME = "agent";
const FILES_VOLUME = "files";

export function nameOf({ id }: ProvisionedWorkspace): string {
  return `parley-${id}`;
}

function metadataOf(workspace: ProvisionedWorkspace, labels: Record<string, string> = {}) {
  return {
    name: nameOf(workspace),
    labels: {
      "app.kubernetes.io/name": "parley-workspace",
      "app.kubernetes.io/managed-by": "parley",
      "parley.dev/workspace": workspace.id,
      "parley.dev/owner": workspace.ownerId,
      ...labels,
    },
    annotations: { "parley.dev/name": workspace.name },
  };
}

export function claimOf(workspace: ProvisionedWorkspace, spec: KubernetesSpec): V1PersistentVolumeClaim {
  return {
    metadata: metadataOf(workspace),
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: `${spec.volumeGb}Gi` } },
      ...(spec.storageClass !== undefined && { storageClassName: spec.storageClass }),
    },
  };
}

export function secretOf(workspace: ProvisionedWorkspace, token: string): V1Secret {
  return { metadata: metadataOf(workspace), type: "Opaque", stringData: { [TOKEN_KEY]: token } };
}

export function podOf(
  workspace: ProvisionedWorkspace,
  spec: KubernetesSpec,
  { startId, serverUrl }: { startId: string; serverUrl: string },
): V1Pod {
  const name = nameOf(workspace);
  const { agentImage, runAsUser } = spec;
  return {
    metadata: metadataOf(workspace, { [START_LABEL]: startId }),
    spec: {
      // A crashed agent is restarted with the same token.
      restartPolicy: "Always",
      automountServiceAccountToken: spec.serviceAccount !== undefined,
      ...(spec.serviceAccount !== undefined && { serviceAccountName: spec.serviceAccount }),
      ...(runAsUser !== undefined && {
        securityContext: { runAsUser, runAsGroup: runAsUser, fsGroup: runAsUser },
      }),
      nodeSelector: spec.nodeSelector,
      imagePullSecrets: spec.imagePullSecrets.map((secret) => ({ name: secret })),
      initContainers: agentImage === undefined ? [] : [copyOf(agentImage)],
      containers: [containerOf(name, spec, serverUrl)],
      volumes: [
        { name: FILES_VOLUME, persistentVolumeClaim: { claimName: name } },
        ...(agentImage === undefined ? [] : [{ name: AGENT_VOLUME, emptyDir: {} }]),
      ],
    },
  };
}

function copyOf(agentImage: string): V1Container {
  return {
    name: "agent",
    image: agentImage,
    command: ["cp", "-a", `${AGENT_FOLDER}/.`, COPY_FOLDER],
    volumeMounts: [{ name: AGENT_VOLUME, mountPath: COPY_FOLDER }],
  };
}

function containerOf(secretName: string, spec: KubernetesSpec, serverUrl: string): V1Container {
  const { image, directory, environment, memoryMb, cpus, agentImage, command } = spec;
  const variables = Object.entries(environment).map(([name, value]) => ({ name, value }));
  const limits = {
    ...(memoryMb !== undefined && { memory: `${memoryMb}Mi` }),
    ...(cpus !== undefined && { cpu: String(cpus) }),
  };
  const mounted = agentImage === undefined ? undefined : AGENT_FOLDER;
  return {
    name: "workspace",
    image,
    command: agentCommandOf({ command, agentPath: mounted }, AGENT_FOLDER),
    workingDir: directory,
    env: [
      ...variables,
      { name: "PARLEY_AGENT_SERVER_URL", value: serverUrl },
      { name: "PARLEY_AGENT_DIRECTORY", value: directory },
      // The image and the template chose everything in the container for its commands.
      { name: "PARLEY_COMMAND_ENV", value: "*" },
      {
        name: "PARLEY_AGENT_TOKEN",
        valueFrom: { secretKeyRef: { name: secretName, key: TOKEN_KEY } },
      },
    ],
    resources: { limits, requests: limits },
    volumeMounts: [
      { name: FILES_VOLUME, mountPath: directory },
      ...(agentImage === undefined ? [] : [{ name: AGENT_VOLUME, mountPath: AGENT_FOLDER, readOnly: true }]),
    ],
  };
}
