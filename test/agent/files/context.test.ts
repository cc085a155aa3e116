// Workspace contexts, requested from an agent over HTTP and read from real files.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgent } from "../../../src/agent/agent.js";
import { DEFAULT_CONTEXT_PATHS, type ContextPaths } from "../../../src/agent/context/paths.js";
import { createAgentServer } from "../../../src/agent/http.js";
import { inheritedEnvironment } from "../../../src/agent/process/environment.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import {
  AgentError,
  connectAgent,
  type AgentConnection,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import { makeFolder, startTestAgent } from "../support.js";

let home: string;
let folder: string;
let connection: AgentConnection;
let close: () => Promise<void>;

async function start(paths: Partial<ContextPaths> = {}): Promise<void> {
  const log = createLog("silent");
  const agent = createAgent({
    directory: folder,
    homeDirectory: home,
    contextPaths: { ...DEFAULT_CONTEXT_PATHS, ...paths },
    environment: inheritedEnvironment(),
    clock: systemClock,
    log,
  });
  const token = "the-token-of-this-test";
  const server = createAgentServer({ agent, token, log });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  connection = connectAgent({ url, token });
  close = async () => {
    await agent.close();
    await server.close();
  };
}

async function restart(paths: Partial<ContextPaths>): Promise<void> {
  await close();
  await start(paths);
}

beforeEach(async () => {
  [home, folder] = await Promise.all([makeFolder(), makeFolder()]);
  await start();
});
afterEach(async () => {
  await close();
  await Promise.all([home, folder].map((path) => rm(path, { recursive: true, force: true })));
});

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

const inWorkspace = (path: string) => join(folder, path);

function writeSkill(name: string, description: string, body = ""): Promise<void> {
  const text = `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
  return write(inWorkspace(`.agents/skills/${name}/SKILL.md`), text);
}

/** The refusal of a request. */
async function refusal(request: Promise<unknown>): Promise<unknown> {
  const error = await request.catch((caught: unknown) => caught);
  if (!(error instanceof AgentError)) throw new Error("The request was not refused.", { cause: error });
  return { status: error.status, message: error.message, field: error.facts.field };
}

describe("the context", () => {
  test("of an empty workspace is where it is", async () => {
    expect(await connection.workspaceContext()).toEqual({
      operatingSystem: `${process.platform} ${process.arch}`,
      workingDirectory: folder,
      instructionFiles: [],
      skills: [],
    });
  });

  test("has the user's instructions first and the workspace's last, whatever the case of their names", async () => {
    await write(join(home, ".parley/agents.MD"), "\uFEFFBe brief.\r\n<!-- not for models -->\r\n");
    await write(inWorkspace("AGENTS.md"), "Run `npm test`.\n");
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles).toEqual([
      { path: join(home, ".parley/agents.MD"), content: "Be brief.", isTruncated: false },
      { path: inWorkspace("AGENTS.md"), content: "Run `npm test`.", isTruncated: false },
    ]);
  });

  test("is read from the configured paths", async () => {
    await restart({
      instructionDirectories: ["~/rules", "docs", "docs/.", "nowhere"],
      instructionFile: "RULES.txt",
      skillDirectories: ["~/skills"],
      skillFile: "HOW.md",
    });
    await write(join(home, "rules/RULES.txt"), "home");
    await write(inWorkspace("docs/RULES.txt"), "docs");
    await write(inWorkspace("AGENTS.md"), "not asked for");
    await write(join(home, "skills/sing/HOW.md"), "---\nname: sing\n---\nLoud.");
    await writeSkill("dance", "Not asked for.");
    const { instructionFiles, skills } = await connection.workspaceContext();
    expect({ read: instructionFiles.map(({ content }) => content), skills }).toEqual({
      read: ["home", "docs"],
      skills: [{ name: "sing", description: "", directory: join(home, "skills/sing") }],
    });
  });

  test("is read by a server's agent from paths in the server's environment, which is hidden from commands", async () => {
    await write(join(home, "rules/RULES.txt"), "home");
    const agent = await startTestAgent({
      HOME: home,
      PARLEY_AGENT_INSTRUCTIONS_DIRS: "~/rules",
      PARLEY_AGENT_INSTRUCTIONS_FILE: "RULES.txt",
    });
    const context = await agent.connection.workspaceContext();
    const { id } = await agent.connection.startProcess({
      // The variable that marks the agent's commands is not a setting.
      command: "env | grep PARLEY_AGENT_ | grep -v ^PARLEY_AGENT_INSTANCE=",
    });
    const { output } = await agent.connection.processOutput({ id, wait: true });
    const { instanceId } = await agent.connection.health();
    const { instance } = agent.connection.forChat("chat-1");
    await agent.close();
    expect({ read: context.instructionFiles.map(({ content }) => content), output, instance }).toEqual({
      read: ["home"],
      output: "",
      instance: instanceId,
    });
  });

  test("is read again each time", async () => {
    await write(inWorkspace("AGENTS.md"), "before");
    await connection.workspaceContext();
    await write(inWorkspace("AGENTS.md"), "after");
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles).toMatchObject([{ content: "after" }]);
  });

  test("is that of the home directory, where commands run, when the working directory is gone", async () => {
    await write(join(home, "AGENTS.md"), "at home");
    await rm(folder, { recursive: true });
    expect(await connection.workspaceContext()).toMatchObject({
      workingDirectory: home,
      instructionFiles: [{ path: join(home, "AGENTS.md"), content: "at home" }],
    });
  });

  test("has 64 KiB of a long file, cut between characters", async () => {
    await write(inWorkspace("AGENTS.md"), `${"x".repeat(64 * 1024 - 1)}é and more`);
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles).toEqual([
      { path: inWorkspace("AGENTS.md"), content: "x".repeat(64 * 1024 - 1), isTruncated: true },
    ]);
  });

  test("has a file of exactly 64 KiB whole", async () => {
    await write(inWorkspace("AGENTS.md"), "x".repeat(64 * 1024));
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles).toMatchObject([{ isTruncated: false }]);
  });

  test("has no more than 256 KiB of instructions in all", async () => {
    await restart({ instructionDirectories: ["a", "b", "c", "d", "e"] });
    for (const folder of "abcde") await write(inWorkspace(`${folder}/AGENTS.md`), folder.repeat(64 * 1024));
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles.map(({ content }) => content[0])).toEqual(["a", "b", "c", "d"]);
  });

  test("is not spoilt by what cannot be read", async () => {
    await mkdir(inWorkspace("AGENTS.md"));
    execFileSync("mkfifo", [inWorkspace("Agents.md")]);
    await write(inWorkspace("aGENTS.md"), Buffer.from([1, 0, 2]));
    await symlink(inWorkspace("nowhere"), inWorkspace("agentS.md"));
    await write(inWorkspace("agents.MD"), "forbidden to most");
    await chmod(inWorkspace("agents.MD"), 0);
    await write(inWorkspace("agents.md"), "found");
    await write(join(home, ".parley"), "not a directory");
    await write(inWorkspace(".agents/skills"), "not a directory");
    const { instructionFiles, skills } = await connection.workspaceContext();
    const readable = instructionFiles.map(({ content }) => content);
    // Root may read files regardless of their mode.
    expect({ readable, skills }).toEqual({
      readable: [process.getuid?.() === 0 ? "forbidden to most" : "found"],
      skills: [],
    });
  });

  test("has a user's linked instructions, but nothing that a repository links to from outside", async () => {
    await write(join(home, "secrets"), "the key to everything");
    await write(join(home, "dotfiles/AGENTS.md"), "linked at home");
    await mkdir(join(home, ".parley"));
    await symlink(join(home, "dotfiles/AGENTS.md"), join(home, ".parley/AGENTS.md"));
    await symlink(join(home, "secrets"), inWorkspace("AGENTS.md"));
    await write(inWorkspace("docs/rules.md"), "linked within");
    await symlink("docs/rules.md", inWorkspace("agents.md"));
    const { instructionFiles } = await connection.workspaceContext();
    expect(instructionFiles.map(({ content }) => content)).toEqual(["linked at home", "linked within"]);
  });

  test("has the workspace's skills, sorted, each once, without what is none", async () => {
    await restart({ skillDirectories: [".agents/skills", "more"] });
    await writeSkill("test", "Tests things.");
    await writeSkill("build", "Builds things.");
    await writeSkill("Wrong", "Capitals.");
    await write(inWorkspace(".agents/skills/renamed/SKILL.md"), "---\nname: other\n---\n");
    await write(inWorkspace(".agents/skills/README.md"), "no skill");
    await write(
      inWorkspace("more/test/SKILL.md"),
      "---\nname: test\ndescription: Hidden by the first.\n---\n",
    );
    await mkdir(inWorkspace("more/empty"));
    const { skills } = await connection.workspaceContext();
    const directory = (name: string) => inWorkspace(`.agents/skills/${name}`);
    expect(skills).toEqual([
      { name: "build", description: "Builds things.", directory: directory("build") },
      { name: "test", description: "Tests things.", directory: directory("test") },
    ]);
  });

  test("has a hundred skills at most", async () => {
    const names = Array.from({ length: 101 }, (_, index) => `skill-${100 + index}`);
    await Promise.all(names.map((name) => writeSkill(name, "One of many.")));
    const { skills } = await connection.workspaceContext();
    expect(skills.map(({ name }) => name)).toEqual(names.slice(0, 100));
  });
});

describe("a skill", () => {
  const directory = () => inWorkspace(".agents/skills/release");
  beforeEach(() =>
    writeSkill("release", "Releases.", "\n# Steps\n<!-- hidden -->\nSee references/api.md.\n"),
  );

  test("is read with the names of its files", async () => {
    await write(join(directory(), "references/api.md"), "api");
    await write(join(directory(), "run.sh"), "echo");
    await write(join(directory(), ".env"), "secret");
    expect(await connection.readSkill("release")).toEqual({
      name: "release",
      directory: directory(),
      body: "# Steps\n\nSee references/api.md.",
      isTruncated: false,
      files: ["references/", "run.sh"],
    });
  });

  test("may be a linked folder", async () => {
    await write(join(home, "shared/sing/SKILL.md"), "---\nname: sing\n---\nLoud.");
    await write(join(home, "shared/sing/song.txt"), "la");
    await symlink(join(home, "shared/sing"), inWorkspace(".agents/skills/sing"));
    expect(await connection.readSkill("sing")).toMatchObject({ body: "Loud.", files: ["song.txt"] });
    expect(await connection.readSkillFile({ name: "sing", path: "song.txt" })).toEqual({
      content: "la",
      isTruncated: false,
    });
  });

  test("that is long is cut at 64 KiB", async () => {
    await writeSkill("long", "Long.", "x".repeat(70_000));
    const { body, isTruncated } = await connection.readSkill("long");
    expect([body.length < 64 * 1024, isTruncated]).toEqual([true, true]);
  });

  test("that does not exist is refused, and so is a name that leads elsewhere", async () => {
    const message = 'There is no skill named "none".';
    expect(await refusal(connection.readSkill("none"))).toEqual({ status: 404, message, field: "name" });
    const request = { name: "none", path: "a" };
    expect(await refusal(connection.readSkillFile(request))).toEqual({
      status: 404,
      message,
      field: "name",
    });
    for (const name of ["../skills/release", "release/", "", ".", "a".repeat(65)]) {
      expect(await refusal(connection.readSkill(name))).toMatchObject({ status: 400, field: "name" });
    }
  });

  test("gives its files, also from folders", async () => {
    await write(join(directory(), "references/api.md"), "# API\n");
    for (const path of ["references/api.md", "./references//api.md"]) {
      expect(await connection.readSkillFile({ name: "release", path })).toEqual({
        content: "# API\n",
        isTruncated: false,
      });
    }
  });

  test("gives the first 512 KiB of a long file", async () => {
    await write(join(directory(), "long.txt"), `${"x".repeat(512 * 1024 - 1)}é`);
    const { content, isTruncated } = await connection.readSkillFile({ name: "release", path: "long.txt" });
    expect([content.length, isTruncated]).toEqual([512 * 1024 - 1, true]);
  });

  test.each([
    ["/etc/passwd"],
    ["../release/SKILL.md"],
    ["references/../../x"],
    ["references/.."],
    [".env"],
    ["references/.hidden/x"],
    [""],
    ["a\0b"],
  ])("does not give the path %j", async (path) => {
    await write(join(directory(), ".env"), "secret");
    expect(await refusal(connection.readSkillFile({ name: "release", path }))).toMatchObject({
      status: 400,
      field: "path",
    });
  });

  test("does not give what its links lead to outside of it", async () => {
    await write(join(home, "secret.txt"), "secret");
    await write(inWorkspace(".agents/skills/release-notes/x"), "a neighbour whose name begins the same");
    await symlink(join(home, "secret.txt"), join(directory(), "file"));
    await symlink(home, join(directory(), "folder"));
    await symlink("../release-notes", join(directory(), "neighbour"));
    for (const path of ["file", "folder/secret.txt", "neighbour/x"]) {
      expect(await refusal(connection.readSkillFile({ name: "release", path }))).toEqual({
        status: 403,
        message: `${join(directory(), path)} leads out of ${directory()}.`,
        field: "path",
      });
    }
  });

  test("says why a file cannot be shown", async () => {
    await mkdir(join(directory(), "folder"));
    await write(join(directory(), "picture.png"), Buffer.from([0x89, 0, 1]));
    execFileSync("mkfifo", [join(directory(), "pipe")]);
    const why = (path: string) => refusal(connection.readSkillFile({ name: "release", path }));
    const at = (path: string) => join(directory(), path);
    expect([
      await why("missing"),
      await why("folder"),
      await why("."),
      await why("picture.png"),
      await why("pipe"),
    ]).toEqual([
      { status: 404, message: `${at("missing")} does not exist.`, field: "path" },
      { status: 400, message: `${at("folder")} is not a regular file.`, field: "path" },
      { status: 400, message: `${directory()} is not a regular file.`, field: "path" },
      {
        status: 400,
        message: `${at("picture.png")} is a binary file; it cannot be shown as text.`,
        field: "path",
      },
      { status: 400, message: `${at("pipe")} is not a regular file.`, field: "path" },
    ]);
  });
});
