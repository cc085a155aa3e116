// Git's credentials in commands of a real agent, over the real control channel, with scripted answers.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type {
  AgentConnection,
  GitCredentials,
} from "../../../src/workspaces/agent-client/agent-connection.js";
import type { ControlChannel } from "../../../src/workspaces/control-channel.js";
import { startGitHost, type GitHost } from "../../support/git/git-http.js";
import { ASK_PASSWORD, askingServers, refusal } from "../asking-servers.js";
import { agentPid, finish, openAgent, processesWith, type RunningAgent } from "../process/process-agent.js";
import { eventually } from "../../support/eventually.js";

const TOKEN = `token_${randomBytes(20).toString("hex")}`;
/** As set by the execute tool: there is no user at the terminal. */
const NON_INTERACTIVE = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

let agent: RunningAgent;
let host: GitHost;
/** The agent's log. */
let logged = "";
beforeAll(async () => {
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    logged += String(text);
    return true;
  });
  [agent, host] = await Promise.all([
    openAgent({ environment: { GIT_ASKPASS: "/bin/false" }, logLevel: "trace" }),
    startGitHost(TOKEN),
  ]);
});
afterAll(async () => {
  await Promise.all([agent.stop(), host.close()]);
  vi.restoreAllMocks();
});

const servers = askingServers(() => agent);

const input: GitCredentials = { outcome: "given", username: "oauth2", password: TOKEN };
const chat = (chatId = "chat-1"): AgentConnection => agent.connection.forChat(chatId);

function runIn(connection: AgentConnection, command: string, env: Record<string, string> = {}) {
  return finish(connection, command, { env: { ...NON_INTERACTIVE, ...env } });
}

describe("credentials for a command's git", () => {
  test("[K1] [K2] git clones with the user name and the password that the server gives", async () => {
    await servers.open(input);
    const before = host.shown.length;
    const cloned = await runIn(
      chat(),
      `git clone --quiet ${host.repositoryUrl} cloned && git -C cloned log --format=%s`,
    );
    expect({ exitCode: cloned.exitCode, output: cloned.output }).toEqual({ exitCode: 0, output: "Begin\n" });
    expect(new Set(host.shown.slice(before))).toEqual(new Set([`oauth2:${TOKEN}`]));
    expect(servers.asked).toEqual([
      { chatId: "chat-1", site: host.url, remoteOrigin: host.repositoryUrl },
      { chatId: "chat-1", site: host.url, remoteOrigin: host.repositoryUrl },
    ]);
  });

  test("[K1] a request's GIT_ASKPASS overrides the agent's, and the agent's overrides the inherited one", async () => {
    const own = await runIn(chat(), 'basename "$GIT_ASKPASS"');
    const asRequested = await runIn(chat(), 'echo "$GIT_ASKPASS"', { GIT_ASKPASS: "/bin/true" });
    expect([own.output, asRequested.output]).toEqual(["askpass\n", "/bin/true\n"]);
  });

  test("[K3] on a refusal git continues without credentials, and the command's output says why", async () => {
    await servers.open(refusal);
    const cloned = await runIn(chat(), `git clone ${host.repositoryUrl} refused`);
    expect(cloned.exitCode).toBe(128);
    expect(cloned.output).toContain("parley: There is no token for you.\n");
    expect(cloned.output).toContain("terminal prompts disabled");
    const asks = await runIn(chat(), `${ASK_PASSWORD} 2>/dev/null; echo "code $?"`);
    expect(asks.output).toBe("code 1\n");
  });

  test("[K2] a question for a user name and one for a password get only what they are for", async () => {
    await servers.open(input);
    const result = await runIn(
      chat(),
      `"$GIT_ASKPASS" "Username for 'https://github.com': "; ${ASK_PASSWORD}`,
    );
    expect(result.output).toBe(`oauth2\n${TOKEN}\n`);
  });

  test("[K6] questions for anything but an HTTP host's user are not put to a server", async () => {
    await servers.open(input);
    const prompts = [
      "Enter passphrase for key '/root/.ssh/id_ed25519': ",
      "Password for 'ssh://ada@github.com': ",
      "Password for 'https://github.com/@evil.example': ",
      "",
    ];
    const script = prompts.map((prompt) => `"$GIT_ASKPASS" "${prompt}"; echo "code $?"`).join("; ");
    const result = await runIn(chat(), script);
    const line = "parley: Only user names and passwords for HTTP(S) hosts are available.\ncode 1\n";
    expect({ output: result.output, asked: servers.asked }).toEqual({
      output: line.repeat(prompts.length),
      asked: [],
    });
  });

  test("[K6] an address whose user looks like another host does not get that host's password", async () => {
    await servers.open(input);
    const misleading = host.repositoryUrl.replace("http://", "http://github.com%2F@");
    await runIn(chat(), `git clone ${misleading} misled`);
    // Versions of git that do not encode such a user get no answer at all, as in the question above.
    expect(servers.asked.filter(({ site }) => site !== host.url)).toEqual([]);
  });
});

describe("whose credentials a command requests", () => {
  test("[K4] a command's questions are for its own chat, whatever it claims", async () => {
    await servers.open(input);
    const more = {
      PARLEY_CHAT_ID: "chat-2",
      PARLEY_AGENT_ASKPASS_KEY: "chat-2",
    };
    await runIn(chat("chat-1"), ASK_PASSWORD, more);
    await runIn(chat("chat-1"), `PARLEY_CHAT_ID=chat-2 ${ASK_PASSWORD}`);
    expect(servers.asked.map(({ chatId }) => chatId)).toEqual(["chat-1", "chat-1"]);
  });

  test("[K4] a key that the agent did not make, or made for another chat, opens nothing", async () => {
    await servers.open(input);
    const forged = [
      'export PARLEY_AGENT_ASKPASS_KEY="${PARLEY_AGENT_ASKPASS_KEY%.*}.chat-2"',
      "export PARLEY_AGENT_ASKPASS_KEY=.chat-2",
      "export PARLEY_AGENT_ASKPASS_KEY=nonsense",
    ];
    const result = await Promise.all(
      forged.map((forge) => runIn(chat(), `${forge}; ${ASK_PASSWORD}; echo "code $?"`)),
    );
    const words = "parley: This command's key was not issued by this agent.\ncode 1\n";
    expect(result.map(({ output }) => output)).toEqual(forged.map(() => words));
    expect(servers.asked).toEqual([]);
  });

  test("[K4] a command that belongs to no chat has no credentials, and cannot bring a key along", async () => {
    await servers.open(input);
    const key = (await runIn(chat(), 'printf %s "$PARLEY_AGENT_ASKPASS_KEY"')).output;
    const result = await runIn(agent.connection, ASK_PASSWORD, { PARLEY_AGENT_ASKPASS_KEY: key });
    expect(result.output).toBe("parley: This command belongs to no chat, so it has no credentials.\n");
    expect(servers.asked).toEqual([]);
  });

  test("[K5] the server receives the branch and the origin, without the account in it", async () => {
    await servers.open(input);
    const origin = host.repositoryUrl.replace("http://", "http://ada:old-token@");
    const pushed = await runIn(
      chat(),
      `git clone --quiet ${host.repositoryUrl} work && cd work && git switch --quiet -c topic &&
       git remote set-url origin ${origin} && mkdir sub && cd sub &&
       git push --quiet ${host.repositoryUrl} topic`,
    );
    expect({ exitCode: pushed.exitCode, output: pushed.output }).toEqual({ exitCode: 0, output: "" });
    expect(servers.asked.at(-1)).toEqual({
      chatId: "chat-1",
      site: host.url,
      branch: "topic",
      remoteOrigin: host.repositoryUrl,
    });
  });

  test("[K5] a missing branch, origin or repository is omitted", async () => {
    await servers.open(input);
    await runIn(
      chat(),
      `mkdir nothing empty && cd nothing && ${ASK_PASSWORD}; cd ../empty; git init --quiet; ${ASK_PASSWORD};
       git -c user.name=A -c user.email=a@b commit --quiet --allow-empty -m x; git checkout --quiet --detach; ${ASK_PASSWORD}`,
    );
    const bare = { chatId: "chat-1", site: "https://github.com" };
    expect(servers.asked).toEqual([bare, bare, bare]);
  });
});

describe("which server is asked", () => {
  test("[K7] all servers are asked at once, and the one that gives wins over those that refuse or hang", async () => {
    await servers.open(refusal);
    await servers.open(servers.hang);
    await servers.open(input);
    const result = await runIn(chat(), ASK_PASSWORD);
    expect({ output: result.output, asked: servers.asked.length }).toEqual({
      output: `${TOKEN}\n`,
      asked: 3,
    });
  });

  test("[K8] a server that comes back is waited for", async () => {
    const { id } = await chat().startProcess({ command: `echo begun; ${ASK_PASSWORD}` });
    // The command is running, and no server is connected.
    await servers.open(input);
    const result = await chat().processOutput({ id, wait: true });
    expect(result.output).toBe(`begun\n${TOKEN}\n`);
  });

  test("[K8] a question that breaks with its line goes to the next server", async () => {
    const broken: ControlChannel = await servers.open(() => {
      broken.close();
      return servers.hang();
    });
    const saying = runIn(chat(), ASK_PASSWORD);
    await eventually(() => expect(servers.asked).toHaveLength(1));
    await servers.open(input);
    expect((await saying).output).toBe(`${TOKEN}\n`);
  });

  test("[K8] without a server a command gets a refusal after ten seconds, and does not hang", async () => {
    const result = await runIn(chat(), `${ASK_PASSWORD}; echo "code $?"`);
    expect(result.output).toBe(
      "parley: No Parley server that could give credentials can be reached now.\ncode 1\n",
    );
  });

  test("[K3] a server's failed lookup is a refusal", async () => {
    await servers.open(() => Promise.reject(new Error("The database is away.")));
    const result = await runIn(chat(), ASK_PASSWORD);
    expect(result.output).toBe("parley: The Parley server could not look for credentials.\n");
  });
});

describe("cleanup", () => {
  test("[K10] the folder is the agent's alone, holds a script and a socket, and nothing that is secret", async () => {
    await servers.open(input);
    await runIn(chat(), ASK_PASSWORD);
    const script = (await runIn(chat(), 'printf %s "$GIT_ASKPASS"')).output;
    const folder = dirname(script);
    expect(dirname(folder)).toBe(tmpdir());
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await readdir(folder)).sort()).toEqual(["askpass", "socket"]);
    expect(await readFile(script, "utf8")).toMatch(
      /^#!\/bin\/sh\nunset NODE_OPTIONS\nexec '[^']+'( '[^']+')* "\$@"\n$/,
    );
  });

  test("[K10] a token is in no file, no log and no argument of a program", async () => {
    // A git hook runs during the push and sees what any process on the machine could see.
    const seen = join(agent.folder, "seen");
    const hook = `#!/bin/sh\nfor it in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $it; echo; done > ${seen} 2>/dev/null\n`;
    await servers.open(input);
    await runIn(
      chat(),
      `git clone --quiet ${host.repositoryUrl} hooked && cd hooked && git switch --quiet -c hooked`,
    );
    await writeFile(join(agent.folder, "hooked/.git/hooks/pre-push"), hook, { mode: 0o755 });
    const pushed = await runIn(chat(), "cd hooked && git push --quiet origin hooked");
    expect({ exitCode: pushed.exitCode, output: pushed.output }).toEqual({ exitCode: 0, output: "" });
    expect(await readFile(seen, "utf8")).toContain("git push --quiet origin hooked");
    expect(await readFile(seen, "utf8")).not.toContain(TOKEN);
    expect(logged).toContain("git credentials requested by a command");
    expect(logged).not.toContain(TOKEN);
    // 1: nothing was found.
    const found = () => execFileSync("grep", ["-rlF", TOKEN, agent.folder], { encoding: "utf8" });
    expect(found).toThrow(expect.objectContaining({ status: 1, stdout: "" }));
  });

  test("[K10] [K12] when the agent ends, the folder is removed and all questions end", async () => {
    const short = await openAgent();
    const { connection } = short;
    const pid = await agentPid(connection);
    const folder = dirname((await finish(connection.forChat("chat-1"), 'printf %s "$GIT_ASKPASS"')).output);
    // Without an answer it is still waiting when the agent ends.
    const { id } = await connection
      .forChat("chat-1")
      .startProcess({ command: `echo $$ > asking; exec ${ASK_PASSWORD}` });
    await eventually(() => readFile(join(short.folder, "asking")));
    expect(id).toEqual(expect.any(String));
    const { instanceId } = await connection.health();
    await short.stop();
    await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await processesWith(`PARLEY_AGENT_INSTANCE=${instanceId}`)).toEqual([]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("[K10] the folder of an agent that was killed goes with the next agent, and a living one's stays", async () => {
    const folderOf = async ({ connection }: RunningAgent) =>
      dirname((await finish(connection, 'printf %s "$GIT_ASKPASS"')).output);
    const killed = await openAgent();
    const [left, living] = [await folderOf(killed), await folderOf(agent)];
    process.kill(await agentPid(killed.connection), "SIGKILL");
    await killed.stop();
    expect((await readdir(left)).sort()).toEqual(["askpass", "socket"]);
    const longAgo = new Date(Date.now() - 120_000);
    await Promise.all([left, living].map((folder) => utimes(folder, longAgo, longAgo)));
    const next = await openAgent();
    const own = await folderOf(next);
    await eventually(() => expect(stat(left)).rejects.toMatchObject({ code: "ENOENT" }));
    await next.stop();
    await expect(stat(own)).rejects.toMatchObject({ code: "ENOENT" });
    expect((await readdir(living)).sort()).toEqual(["askpass", "socket"]);
  });

  test("[K1] when the temporary directory is cleaned, the next command has a new folder", async () => {
    await servers.open(input);
    const before = dirname((await runIn(chat(), 'printf %s "$GIT_ASKPASS"')).output);
    await rm(before, { recursive: true });
    const result = await runIn(chat(), `${ASK_PASSWORD}; dirname "$GIT_ASKPASS"`);
    expect(result.output.replace(before, "the same")).toMatch(
      new RegExp(`^${TOKEN}\\n/.+/parley-askpass-\\w+\\n$`),
    );
  });

  test("where no socket can be made, commands run without the program, and the agent says so once", async () => {
    const long = join(agent.folder, "x".repeat(120));
    await mkdir(long);
    const without = await openAgent({ environment: { TMPDIR: long }, logLevel: "warn" });
    const asks = () => finish(without.connection.forChat("chat-1"), 'echo "${GIT_ASKPASS-none}"');
    await asks();
    expect([(await asks()).output, (await asks()).output]).toEqual(["none\n", "none\n"]);
    expect(await readdir(long)).toEqual([]);
    await without.stop();
    expect(logged.split("git credentials are not available").length - 1).toBe(1);
  });

  test("[K12] what a command leaves running can still ask when the command itself is over", async () => {
    await servers.open(input);
    const result = await runIn(
      chat(),
      `(until test -e later; do sleep 0.05; done; ${ASK_PASSWORD} > answer) > /dev/null 2>&1 &`,
    );
    expect(result.exitCode).toBe(0);
    await writeFile(join(agent.folder, "later"), "");
    await eventually(async () =>
      expect(await readFile(join(agent.folder, "answer"), "utf8")).toBe(`${TOKEN}\n`),
    );
  });
});
