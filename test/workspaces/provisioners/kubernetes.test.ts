// Workspaces of a Kubernetes cluster: with its API, its real client, a real agent and a real server.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KubernetesWorkspaces } from "../../../src/workspaces/provisioners/kubernetes.js";
import type { ProvisionedWorkspace } from "../../../src/workspaces/provisioners/provisioner.js";
import { validateSpec } from "../../../src/workspaces/provisioners/specs.js";
import { freePort } from "../../support/network/free-port.js";
import { KubernetesCluster } from "../../support/workspaces/kubernetes-cluster.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { TemplateWorkspace } from "../template-workspace.js";
import { has } from "../../support/requirements.js";

let cluster: KubernetesCluster;
beforeEach(async () => {
  cluster = await KubernetesCluster.start();
});
afterEach(() => cluster.stop());

const SPEC = { image: "node:22", agentImage: "parley", volumeGb: "${size}", memoryMb: 512, runAsUser: 1_000 };
function aWorkspace(spec: object = SPEC): ProvisionedWorkspace {
  return {
    ...{ id: randomUUID(), name: "mine", ownerId: randomUUID(), directory: null },
    spec: { ...spec },
    parameters: { size: "5" },
  };
}

/** The provisioner by itself, with pods that only sleep; `tokens` are those that it issued. */
function provision() {
  cluster.command = ["sleep", "600"];
  const tokens: string[] = [];
  const provisioner = new KubernetesWorkspaces({
    ...{ kubeconfig: cluster.kubeconfig, namespace: "here", serverUrl: "wss://parley.example" },
  });
  const agentOf = (startId: string) => ({
    startId,
    issueToken: () => Promise.resolve(tokens[tokens.push(`pla_${tokens.length}`) - 1] ?? ""),
  });
  return { provisioner, tokens, agentOf };
}

test("a pod is created from the template, once per start, and its agent gets its token from a secret", async () => {
  const { provisioner, tokens, agentOf } = provision();
  const workspace = aWorkspace();
  const name = `parley-${workspace.id}`;
  for (let times = 0; times < 2; times++) {
    await provisioner.create(workspace);
    expect(await provisioner.start(workspace, agentOf("one"))).toBe("connecting");
  }
  expect(tokens).toEqual(["pla_0"]);
  expect(cluster.asked).toEqual([
    ...["POST persistentvolumeclaims", "GET pods", "POST secrets", "POST pods"],
    ...["POST persistentvolumeclaims", "GET pods"],
  ]);
  expect(cluster.objects.persistentvolumeclaims.get(name)).toMatchObject({
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
  });
  expect(cluster.objects.secrets.get(name)).toMatchObject({ stringData: { token: "pla_0" } });
  const pod = cluster.pod(name);
  expect(pod?.spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsUser: 1_000, fsGroup: 1_000 },
    initContainers: [{ image: "parley", command: ["cp", "-a", "/opt/parley/.", "/parley-copy"] }],
    containers: [
      {
        image: "node:22",
        command: ["node", "/opt/parley/dist/bin/server.js", "agent"],
        workingDir: "/workspace",
        resources: { limits: { memory: "512Mi" } },
        volumeMounts: [
          { name: "files", mountPath: "/workspace" },
          { name: "agent", mountPath: "/opt/parley", readOnly: true },
        ],
      },
    ],
    volumes: [
      { name: "files", persistentVolumeClaim: { claimName: name } },
      { name: "agent", emptyDir: {} },
    ],
  });
  expect([JSON.stringify(pod).includes("pla_0"), await provisioner.status(workspace)]).toEqual([
    false,
    { kind: "running" },
  ]);
});

test("stopping removes the pod and its secret, removing removes the volume too; both are idempotent", async () => {
  const { provisioner, tokens, agentOf } = provision();
  const workspace = aWorkspace();
  const sizes = () => Object.values(cluster.objects).map(({ size }) => size);
  await provisioner.create(workspace);
  await provisioner.start(workspace, agentOf("one"));
  for (let times = 0; times < 2; times++) await provisioner.stop(workspace);
  expect([sizes(), await provisioner.status(workspace)]).toEqual([
    [0, 0, 1],
    { kind: "down", reason: "Its pod is gone." },
  ]);
  await provisioner.start(workspace, agentOf("two"));
  expect(tokens).toEqual(["pla_0", "pla_1"]);
  // Also with an invalid parameter.
  const senseless = { ...workspace, parameters: { size: "huge" } };
  await expect(provisioner.create(senseless)).rejects.toMatchObject({ isPermanent: true });
  for (let times = 0; times < 2; times++) await provisioner.remove(senseless);
  expect(sizes()).toEqual([0, 0, 0]);
});

test("failures say why, and whether a retry makes sense", async () => {
  const { provisioner, agentOf } = provision();
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: { message: string; isPermanent: boolean }) => [error.message, error.isPermanent],
    );
  const started = async (workspace: ProvisionedWorkspace) => {
    await provisioner.start(workspace, agentOf("one"));
    return failureOf(provisioner.start(workspace, agentOf("one")));
  };
  const [stuck, old] = [aWorkspace(), aWorkspace()];
  await provisioner.start(old, agentOf("one"));
  const another = failureOf(provisioner.start(old, agentOf("two")));
  const otherWorkspace = await another;
  cluster.waitingFor = { reason: "ImagePullBackOff", message: "Back-off pulling image" };
  const created = await started(aWorkspace());
  cluster.waitingFor = { reason: "InvalidImageName", message: "couldn't parse image name" };
  const unreachable = new KubernetesWorkspaces({
    kubeconfig: "/nowhere",
    namespace: "here",
    serverUrl: null,
  });
  expect({
    created,
    stuck: await started(stuck),
    old: otherWorkspace,
    namespace: await failureOf(provisioner.create(aWorkspace({ ...SPEC, namespace: "elsewhere" }))),
    config: await failureOf(unreachable.create(aWorkspace())),
  }).toEqual({
    created: null,
    stuck: ["InvalidImageName: couldn't parse image name. Its agent did not connect.", true],
    old: ["Its former pod is still being removed.", false],
    namespace: [
      "The cluster refused to create the volume: the server could not find the requested resource",
      true,
    ],
    config: [expect.stringContaining("The cluster's settings cannot be used"), true],
  });
  cluster.waitingFor = null;
  expect([
    await provisioner.start(stuck, agentOf("two")),
    await provisioner.start(old, agentOf("two")),
  ]).toEqual(["connecting", "connecting"]);
});

test("problems of a spec are reported with their paths", () => {
  const spec = { image: "node", volumeGb: 0, runAsUser: "root", directory: "here", hostNetwork: true };
  expect(validateSpec("kubernetes", spec).map(({ path }) => path.join("."))).toEqual([
    ...["directory", "volumeGb", "runAsUser", ""],
  ]);
});

describe("with a server", () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await createTestEnvironment();
  });
  afterAll(() => environment.remove());

  test("a workspace's agent connects from its pod, works, is stopped and started, and removed with the workspace", async () => {
    const port = String(await freePort());
    const server = await environment.start({
      ...{ PARLEY_PORT: port, PARLEY_KUBECONFIG: cluster.kubeconfig, PARLEY_KUBERNETES_NAMESPACE: "here" },
      PARLEY_WORKSPACES_SERVER_URL: `ws://127.0.0.1:${port}`,
    });
    const workspace = await TemplateWorkspace.of(server, {
      provisioner: "KUBERNETES",
      spec: { image: "parley" },
    });
    expect(await workspace.run("echo kept > file; cat file")).toMatchObject({
      success: true,
      output: "kept\n",
    });
    await workspace.changeState("stopWorkspace", "STOPPED");
    expect(cluster.objects.pods.size).toBe(0);
    await workspace.changeState("startWorkspace", "RUNNING");
    expect(await workspace.run("cat file")).toMatchObject({ success: true, output: "kept\n" });
    await workspace.remove();
    expect(Object.values(cluster.objects).map(({ size }) => size)).toEqual([0, 0, 0]);
    await server.close();
  });
});

const REAL_CLUSTER = process.env["PARLEY_TEST_KUBECONFIG"];
test.skipIf(!has("kubernetes"))("a real cluster makes, stops and removes a workspace", async () => {
  const provisioner = new KubernetesWorkspaces({
    ...{ kubeconfig: REAL_CLUSTER ?? null, namespace: "default", serverUrl: "ws://127.0.0.1:9" },
  });
  const workspace = aWorkspace({ image: "busybox", command: ["sleep", "600"], volumeGb: 1 });
  const agent = { startId: "one", issueToken: () => Promise.resolve("pla_nobody") };
  try {
    await provisioner.create(workspace);
    expect(await provisioner.start(workspace, agent)).toBe("connecting");
    expect(await provisioner.start(workspace, agent)).toBe("connecting");
    await provisioner.stop(workspace);
    expect((await provisioner.status(workspace)).kind).toBe("down");
  } finally {
    await provisioner.remove(workspace);
  }
});
