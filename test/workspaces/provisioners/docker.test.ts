// Workspaces of a Docker engine: with the engine's API, its real client, a real agent and a real server.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DockerWorkspaces } from "../../../src/workspaces/provisioners/docker.js";
import { imageWithTag } from "../../../src/workspaces/provisioners/image-names.js";
import type { ProvisionedWorkspace } from "../../../src/workspaces/provisioners/provisioner.js";
import { validateSpec } from "../../../src/workspaces/provisioners/specs.js";
import { DockerEngine } from "../../support/workspaces/docker-engine.js";
import { freePort } from "../../support/network/free-port.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import { TemplateWorkspace } from "../template-workspace.js";
import { eventually } from "../../support/eventually.js";
import { DOCKER_HOST, has } from "../../support/requirements.js";

let engine: DockerEngine;
beforeEach(async () => {
  engine = await DockerEngine.start();
});
afterEach(() => engine.stop());

const SPEC = {
  image: "parley-agent",
  environment: { LANGUAGE: "${language}" },
  memoryMb: "${memory}",
  cpus: 1.5,
};
function aWorkspace(spec: object = SPEC): ProvisionedWorkspace {
  return {
    ...{ id: randomUUID(), name: "mine", ownerId: randomUUID(), directory: null },
    spec: { ...spec },
    parameters: { language: "en", memory: "512" },
  };
}

/** The provisioner by itself, with containers that only sleep; `tokens` are those that it issued. */
function provision(serverUrl: string | null = "wss://parley.example") {
  engine.command = ["sleep", "600"];
  const tokens: string[] = [];
  const provisioner = new DockerWorkspaces({ engineUrl: engine.url, serverUrl });
  const agentOf = (startId: string) => ({
    startId,
    issueToken: () => Promise.resolve(tokens[tokens.push(`pla_${tokens.length}`) - 1] ?? ""),
  });
  return { provisioner, tokens, agentOf };
}

test("a container is created from the template, once per start, and its agent knows where to connect", async () => {
  const { provisioner, tokens, agentOf } = provision();
  const workspace = aWorkspace({
    ...SPEC,
    agentPath: "/opt/here",
    mounts: [{ source: "cache", target: "/cache" }],
  });
  const name = `parley-${workspace.id}`;
  await provisioner.create(workspace);
  for (let times = 0; times < 2; times++) {
    expect(await provisioner.start(workspace, agentOf("one"))).toBe("connecting");
  }
  expect(tokens).toEqual(["pla_0"]);
  expect(engine.containers.get(name)?.wanted).toMatchObject({
    Image: "parley-agent",
    Cmd: ["node", "/opt/parley/dist/bin/server.js", "agent"],
    Env: [
      "LANGUAGE=en",
      "PARLEY_AGENT_SERVER_URL=wss://parley.example",
      "PARLEY_AGENT_TOKEN=pla_0",
      "PARLEY_AGENT_DIRECTORY=/workspace",
      "PARLEY_COMMAND_ENV=*",
    ],
    WorkingDir: "/workspace",
    HostConfig: {
      Init: true,
      Memory: 512 * 1024 * 1024,
      NanoCpus: 1_500_000_000,
      Mounts: [
        { Type: "volume", Source: name, Target: "/workspace", ReadOnly: false },
        { Type: "bind", Source: "/opt/here", Target: "/opt/parley", ReadOnly: true },
        { Type: "volume", Source: "cache", Target: "/cache", ReadOnly: false },
      ],
    },
  });
  expect(engine.asked).toEqual([
    ...["POST /volumes/create", "GET /containers/ID/json", "GET /images/parley-agent/json"],
    ...["POST /images/create", "POST /containers/create", "POST /containers/ID/start"],
    "GET /containers/ID/json",
  ]);
  expect(await provisioner.status(workspace)).toEqual({ kind: "running" });
});

test("stopping removes the container but not the volume; removing removes both; both are idempotent", async () => {
  const { provisioner, tokens, agentOf } = provision();
  const workspace = aWorkspace();
  await provisioner.create(workspace);
  await provisioner.start(workspace, agentOf("one"));
  for (let times = 0; times < 2; times++) await provisioner.stop(workspace);
  expect([engine.containers.size, engine.volumes.size]).toEqual([0, 1]);
  expect(await provisioner.status(workspace)).toEqual({ kind: "down", reason: "Its container is gone." });
  await provisioner.create(workspace);
  await provisioner.start(workspace, agentOf("two"));
  expect(tokens).toEqual(["pla_0", "pla_1"]);
  const folder = engine.volumes.get(`parley-${workspace.id}`) ?? "";
  for (let times = 0; times < 2; times++) await provisioner.remove(workspace);
  expect([engine.containers.size, engine.volumes.size, existsSync(folder)]).toEqual([0, 0, false]);
});

test("failures say why, and whether a retry makes sense", async () => {
  const { provisioner, agentOf } = provision();
  const failure = (workspace: ProvisionedWorkspace, from = provisioner) =>
    from.start(workspace, agentOf("one")).then(
      () => null,
      (error: { message: string; isPermanent: boolean }) => [error.message, error.isPermanent],
    );
  const ended = aWorkspace();
  const startEnded = async () => {
    engine.command = ["false"];
    await provisioner.create(ended);
    await provisioner.start(ended, agentOf("one"));
    await eventually(async () => expect((await provisioner.status(ended)).kind).toBe("down"));
    return failure(ended);
  };
  const unreachable = new DockerWorkspaces({
    engineUrl: "unix:///nowhere/docker.sock",
    serverUrl: "wss://x.example",
  });
  const unknown = new DockerWorkspaces({ engineUrl: engine.url, serverUrl: null });
  expect({
    image: await failure(aWorkspace({ image: "nothing" })),
    never: await failure(aWorkspace({ image: "nothing", pull: "never" })),
    engine: await failure(aWorkspace(), unreachable),
    server: await failure(aWorkspace(), unknown),
    parameter: await failure({ ...aWorkspace(), parameters: { language: "en", memory: "much" } }),
    ended: await startEnded(),
  }).toEqual({
    image: [expect.stringContaining("refused to pull the image nothing"), true],
    never: ["The engine has no image nothing and must not pull it.", true],
    engine: [expect.stringContaining("could not inspect the container"), false],
    server: [expect.stringContaining("PARLEY_WORKSPACES_SERVER_URL"), true],
    parameter: [expect.stringContaining("memoryMb"), true],
    ended: ["Its container has ended with exit code 1. Its agent did not connect.", true],
  });
  // The next attempt creates another container.
  engine.command = ["sleep", "600"];
  expect(await provisioner.start(ended, agentOf("two"))).toBe("connecting");
});

test.each([
  ["node", "node:latest"],
  ["node:22", "node:22"],
  ["registry.example:5000/team/node", "registry.example:5000/team/node:latest"],
  ["node@sha256:0123", "node@sha256:0123"],
])("the image %s is fetched as %s", (image, full) => {
  expect(imageWithTag(image)).toBe(full);
});

test("problems of a spec are reported with their paths", () => {
  const spec = {
    image: "",
    cpus: 0,
    mounts: [{ source: "a", target: "b" }],
    environment: { "A=B": "" },
    privileged: true,
  };
  expect(validateSpec("docker", spec).map(({ path }) => path.join("."))).toEqual([
    ...["image", "environment.A=B", "cpus", "mounts.0.target", ""],
  ]);
});

describe("with a server", () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await createTestEnvironment();
  });
  afterAll(() => environment.remove());

  test("a workspace's agent connects from its container, works, survives a crash within a turn, and keeps its files over a restart", async () => {
    const port = String(await freePort());
    const server = await environment.start({
      ...{ PARLEY_PORT: port, PARLEY_DOCKER_HOST: engine.url },
      PARLEY_WORKSPACES_SERVER_URL: `ws://127.0.0.1:${port}`,
    });
    const workspace = await TemplateWorkspace.of(server, {
      provisioner: "DOCKER",
      spec: { image: "parley-agent" },
    });
    expect(await workspace.run("echo kept > file; cat file")).toMatchObject({
      success: true,
      output: "kept\n",
    });
    // The agent is the command's parent: it is killed, restarted, and the same turn continues.
    expect(await workspace.run("kill -9 $PPID", "cat file")).toMatchObject({
      success: true,
      output: "kept\n",
    });
    await workspace.changeState("stopWorkspace", "STOPPED");
    expect(engine.containers.size).toBe(0);
    await workspace.changeState("startWorkspace", "RUNNING");
    expect(await workspace.run("cat file")).toMatchObject({ success: true, output: "kept\n" });
    await workspace.remove();
    expect([engine.containers.size, engine.volumes.size]).toEqual([0, 0]);
    await server.close();
  });
});

test.skipIf(!has("docker"))("a real engine makes, stops and removes a workspace", async () => {
  const provisioner = new DockerWorkspaces({ engineUrl: DOCKER_HOST, serverUrl: "ws://127.0.0.1:9" });
  const workspace = aWorkspace({ image: "busybox", command: ["sleep", "600"] });
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
