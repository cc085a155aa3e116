// The numbered rules of docs/agent/context.md, tested on agent processes.
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "../mcp/mcp-support.js";
import { makeFolder, startTestAgent, type TestAgent } from "../support.js";

let home: string;
let agent: TestAgent;

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

const inWorkspace = (path: string) => join(agent.folder, path);
const skillText = (name: string, description: string, body = "") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;

async function instructions(): Promise<string[]> {
  const { instructionFiles } = await agent.connection.workspaceContext();
  return instructionFiles.map(({ content }) => content);
}

describe("an agent without context settings", () => {
  beforeAll(async () => {
    home = await makeFolder();
    agent = await startTestAgent({
      HOME: home,
      PARLEY_AGENT_INSTRUCTIONS_DIRS: " ",
      PARLEY_AGENT_SKILLS_DIRS: "",
    });
  });
  afterEach(async () => {
    const names = ["AGENTS.md", "agents.md", "Agents.MD", ".agents", "docs"].map(inWorkspace);
    await Promise.all(
      [...names, join(home, ".parley")].map((path) => rm(path, { recursive: true, force: true })),
    );
  });
  afterAll(async () => {
    await agent.close();
    await rm(home, { recursive: true, force: true });
  });

  test("[C14] has the working directory, and empty lists where there is nothing", async () => {
    expect(await agent.connection.workspaceContext()).toEqual({
      operatingSystem: `${process.platform} ${process.arch}`,
      workingDirectory: agent.folder,
      instructionFiles: [],
      skills: [],
    });
  });

  test("[C1] [C5] finds the user's instructions, then the workspace's, whatever the case of the name", async () => {
    await write(join(home, ".parley/agents.md"), "person");
    await mkdir(inWorkspace("AGENTS.md"));
    await write(inWorkspace("Agents.MD"), "workspace");
    await write(inWorkspace("agents.md"), "not the first");
    expect(await instructions()).toEqual(["person", "workspace"]);
  });

  test("[C6] cuts long instructions between characters", async () => {
    await write(join(home, ".parley/AGENTS.md"), "a".repeat(64 * 1024));
    await write(inWorkspace("AGENTS.md"), `${"b".repeat(64 * 1024 - 1)}é`);
    const { instructionFiles } = await agent.connection.workspaceContext();
    expect(instructionFiles.map(({ content, isTruncated }) => [content.length, isTruncated])).toEqual([
      [64 * 1024, false],
      [64 * 1024 - 1, true],
    ]);
  });

  test("[C7] gives instructions as a user reads them", async () => {
    await write(join(home, ".parley/AGENTS.md"), "\uFEFF <!-- nothing\nbut --> \u200B\r\n");
    await write(inWorkspace("AGENTS.md"), "\r\nin\u00ADvi\u202Esi\u2060ble\r<!-- x -->می\u200Cخواهم\r\n");
    expect(await instructions()).toEqual(["invisible\nمی\u200Cخواهم"]);
  });

  test("[C8] is not led out of the workspace or of a skill by a link", async () => {
    await write(join(home, "secret"), "secret");
    await write(join(home, "dotfiles"), "linked at home");
    await mkdir(join(home, ".parley"));
    await symlink(join(home, "dotfiles"), join(home, ".parley/AGENTS.md"));
    await symlink(join(home, "secret"), inWorkspace("AGENTS.md"));
    await write(inWorkspace(".agents/skills/leak/SKILL.md"), skillText("leak", "Leaks."));
    await symlink(join(home, "secret"), inWorkspace(".agents/skills/leak/file"));
    expect(await instructions()).toEqual(["linked at home"]);
    expect((await refusal(agent.connection.readSkillFile({ name: "leak", path: "file" }))).status).toBe(403);
  });

  test("[C9] [C10] lists skills, sorted, and passes over what is none", async () => {
    const skill = (folder: string, text: string) =>
      write(inWorkspace(`.agents/skills/${folder}/SKILL.md`), text);
    await skill("zeta", skillText("zeta", "Last."));
    await skill("alpha-2", '\uFEFF---\nname: "alpha-2"\nlicense: MIT\n---\nNo description.');
    await skill("Capital", skillText("Capital", "No."));
    await skill("other", skillText("another", "No."));
    await skill("double--hyphen", skillText("double--hyphen", "No."));
    await skill("bare", "# No front matter");
    await skill("nameless", "---\ndescription: No.\n---\n");
    await skill("number", "---\nname: 5\n---\n");
    await skill("broken", "---\nname: [broken\n---\n");
    await skill("deep/er", skillText("er", "Not directly below."));
    const { skills } = await agent.connection.workspaceContext();
    const directory = (name: string) => inWorkspace(`.agents/skills/${name}`);
    expect(skills).toEqual([
      { name: "alpha-2", description: "", directory: directory("alpha-2") },
      { name: "zeta", description: "Last.", directory: directory("zeta") },
    ]);
  });

  test("[C10] lists a hundred skills", async () => {
    const names = Array.from({ length: 101 }, (_, index) => `skill-${100 + index}`);
    await Promise.all(
      names.map((name) =>
        write(inWorkspace(`.agents/skills/${name}/SKILL.md`), skillText(name, "One of many.")),
      ),
    );
    const { skills } = await agent.connection.workspaceContext();
    expect(skills.map(({ name }) => name)).toEqual(names.slice(0, 100));
  });

  test("[C11] reads a skill: its instructions and its files", async () => {
    const directory = inWorkspace(".agents/skills/sing");
    await write(
      join(directory, "SKILL.md"),
      skillText("sing", "Sings.", "\n# Song\n<!-- quietly -->\nLa.\n"),
    );
    await write(join(directory, "notes/high.txt"), "c");
    await write(join(directory, "a.txt"), "a");
    await write(join(directory, ".hidden"), "h");
    expect(await agent.connection.readSkill("sing")).toEqual({
      name: "sing",
      directory,
      body: "# Song\n\nLa.",
      isTruncated: false,
      files: ["a.txt", "notes/"],
    });
    await write(join(directory, "SKILL.md"), skillText("sing", "Sings.", "x".repeat(70_000)));
    const { body, isTruncated } = await agent.connection.readSkill("sing");
    expect([body.length < 64 * 1024, isTruncated]).toEqual([true, true]);
  });

  test("[C12] reads a skill's files, and no others", async () => {
    const directory = inWorkspace(".agents/skills/sing");
    await write(join(directory, "SKILL.md"), skillText("sing", "Sings."));
    await write(join(directory, "notes/long.txt"), "x".repeat(512 * 1024 + 1));
    await write(join(directory, "sound.wav"), Buffer.from([0, 1]));
    const read = (path: string) => agent.connection.readSkillFile({ name: "sing", path });
    const { content, isTruncated } = await read("notes/long.txt");
    expect([content.length, isTruncated]).toEqual([512 * 1024, true]);
    const wrong = [
      "/etc/passwd",
      "../sing/SKILL.md",
      "notes/../../x",
      ".git",
      "notes/.x",
      "",
      "sound.wav",
      "notes",
    ];
    const refused = await Promise.all(wrong.map(async (path) => (await refusal(read(path))).status));
    expect(refused).toEqual(wrong.map(() => 400));
    expect((await refusal(read("missing"))).status).toBe(404);
  });

  test("[C13] refuses a skill that is not there by its name", async () => {
    const message = 'There is no skill named "none".';
    expect(await refusal(agent.connection.readSkill("none"))).toEqual({ status: 404, message });
    expect(await refusal(agent.connection.readSkillFile({ name: "none", path: "a" }))).toEqual({
      status: 404,
      message,
    });
    expect((await refusal(agent.connection.readSkill("../none"))).status).toBe(400);
  });
});

describe("an agent with context settings", () => {
  beforeAll(async () => {
    home = await makeFolder();
    agent = await startTestAgent({
      HOME: home,
      PARLEY_AGENT_INSTRUCTIONS_DIRS: ` ~ ,~/rules,, docs,./docs/, ${home}/rules,.,~/more`,
      PARLEY_AGENT_INSTRUCTIONS_FILE: " RULES.txt ",
      PARLEY_AGENT_SKILLS_DIRS: "~/skills,skills",
      PARLEY_AGENT_SKILL_META_FILE: "HOW.md",
      PARLEY_AGENT_MCP_CONFIG_FILES: "~/servers.json",
    });
  });
  afterAll(async () => {
    await agent.close();
    await rm(home, { recursive: true, force: true });
  });

  test("[C1] [C2] [C5] searches there, each directory once", async () => {
    await write(join(home, "RULES.txt"), "home");
    await write(join(home, "rules/rules.TXT"), "rules");
    await write(inWorkspace("docs/RULES.txt"), "docs");
    await write(inWorkspace("RULES.txt"), "workspace");
    await write(inWorkspace("AGENTS.md"), "not asked for");
    await write(join(home, "servers.json"), '{"mcpServers": {"one": {}}}');
    const { servers } = await agent.connection.mcpTools();
    expect([await instructions(), servers.map(({ name }) => name)]).toEqual([
      ["home", "rules", "docs", "workspace"],
      ["one"],
    ]);
  });

  test("[C1] [C10] [C11] finds skills by their other file, the first of two with one name", async () => {
    await write(join(home, "skills/sing/HOW.md"), skillText("sing", "At home.", "Loud."));
    await write(inWorkspace("skills/sing/HOW.md"), skillText("sing", "Hidden by the first."));
    await write(inWorkspace("skills/dance/HOW.md"), skillText("dance", "Here."));
    await write(inWorkspace("skills/draw/SKILL.md"), skillText("draw", "Not asked for."));
    const { skills } = await agent.connection.workspaceContext();
    expect([skills, (await agent.connection.readSkill("sing")).body]).toEqual([
      [
        { name: "sing", description: "At home.", directory: join(home, "skills/sing") },
        { name: "dance", description: "Here.", directory: inWorkspace("skills/dance") },
      ],
      "Loud.",
    ]);
  });

  test("[C6] gives no more than 256 KiB of instructions in all", async () => {
    const folders = [home, join(home, "rules"), inWorkspace("docs"), agent.folder, join(home, "more")];
    await Promise.all(folders.map((folder) => write(join(folder, "RULES.txt"), "x".repeat(64 * 1024))));
    const input = await instructions();
    await Promise.all(folders.map((folder) => rm(join(folder, "RULES.txt"))));
    expect(input.map((content) => content.length)).toEqual(Array(4).fill(64 * 1024));
  });

  test("[C3] shows its settings to no command", async () => {
    const { id } = await agent.connection.startProcess({ command: "env" });
    const { output } = await agent.connection.processOutput({ id, wait: true });
    const names = [
      "INSTRUCTIONS_DIRS",
      "INSTRUCTIONS_FILE",
      "SKILLS_DIRS",
      "SKILL_META_FILE",
      "MCP_CONFIG_FILES",
      "TOKEN",
    ];
    expect(names.filter((name) => output.includes(`PARLEY_AGENT_${name}`))).toEqual([]);
  });

  test("[C4] reads everything again, from wherever a command would run now", async () => {
    await write(inWorkspace("RULES.txt"), "before");
    const before = await instructions();
    await write(inWorkspace("RULES.txt"), "after");
    const after = await instructions();
    await rm(agent.folder, { recursive: true });
    const gone = await agent.connection.workspaceContext();
    expect([before.at(-1), after.at(-1), gone.workingDirectory]).toEqual(["before", "after", home]);
  });
});
