// Git in chats: with the token of the chat's owner, which appears only where it is needed.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import { giveGitCredentials } from "../../../src/services/git/git-credentials.js";
import {
  createAgentToken,
  createExternalWorkspace,
} from "../../../src/store/workspaces/external-workspaces.js";
import { findOldestAdmin } from "../../../src/store/users/users.js";
import { hashAgentToken } from "../../../src/workspaces/tunnels/requests.js";
import { startDialingAgent } from "../../support/workspaces/dialing-agent.js";
import {
  connectHost,
  connections,
  createGitDeployment,
  diffStatuses,
  tablesWith,
  type GitDeployment,
  credentialDependencies,
} from "../../support/git/git-deployment.js";

const TOKEN = `token_${randomBytes(20).toString("hex")}`;
const keyOf = (id: string) => ({ id, bytes: randomBytes(32) });
const written = ({ id, bytes }: { id: string; bytes: Buffer }) => `${id}:${bytes.toString("base64")}`;
const [first, second] = [keyOf("first"), keyOf("second")];

let deployment: GitDeployment;
beforeEach(async () => {
  deployment = await createGitDeployment(TOKEN);
});
afterEach(() => deployment.remove());

const CLONE_AND_PUSH = () =>
  `git clone --quiet ${deployment.host.repositoryUrl} work && cd work && git switch --quiet -c topic && ` +
  `git -c user.name=A -c user.email=a@b.example commit --quiet --allow-empty -m Work && git push --quiet origin topic && echo pushed`;

/** The deployment's files that contain the text. Files deleted during the search are ignored. */
function filesWith(text: string): string[] {
  const command = 'grep -rlsF -D skip -e "$0" "$@" || true';
  const found = execFileSync("sh", ["-c", command, text, ...deployment.folders], { encoding: "utf8" });
  return found.split("\n").slice(0, -1);
}

describe("git in a chat", () => {
  test("[K13] [K15] clones and pushes with the token of the chat's owner, which appears nowhere", async () => {
    const { api } = await deployment.start(written(first));
    const { connection } = await connectHost(api, deployment.host.url, TOKEN);
    const sibling = await deployment.run(api, "echo quiet");
    const { output, chatId, received } = await deployment.run(api, CLONE_AND_PUSH());
    expect(output).toBe("pushed\n");
    expect(await deployment.host.git("log", "--format=%s", "topic")).toBe("Work\nBegin\n");
    expect(new Set(deployment.host.shown)).toEqual(new Set([`oauth2:${TOKEN}`]));
    expect(await diffStatuses(deployment)).toEqual([
      { chatId, branch: "topic", origin: deployment.host.repositoryUrl, isStale: true },
    ]);
    const shown = JSON.stringify([connection, await connections(api), received, sibling.received]);
    expect(shown).not.toContain(TOKEN);
    expect(await tablesWith(deployment, TOKEN)).toEqual([]);
    expect(filesWith(TOKEN)).toEqual([]);
    // Both programs have written logs, at the most verbose level.
    expect(deployment.logged()).toContain("issued git credentials");
    expect(deployment.logged()).not.toContain(TOKEN);
    expect(deployment.logged()).not.toContain(first.bytes.toString("base64"));
  });

  test("[K3] [K13] without an account the command fails and says what the user can do", async () => {
    const { api } = await deployment.start(written(first));
    const { output, exitCode, chatId } = await deployment.run(
      api,
      `git clone ${deployment.host.repositoryUrl} work`,
    );
    expect(exitCode).toBe(128);
    expect(output).toContain(
      `parley: The chat's owner has not connected ${deployment.host.url} to Parley; they can do so with connectGitHost.`,
    );
    expect({
      shown: deployment.host.shown,
      statuses: await diffStatuses(deployment),
      chatId: chatId !== "",
    }).toEqual({
      shown: [],
      statuses: [],
      chatId: true,
    });
  });

  test("[K13] a user's account is only used in their own chats", async () => {
    const server = await deployment.start(written(first));
    await connectHost(await server.enter("bob"), deployment.host.url, TOKEN);
    const { output } = await deployment.run(server.api, `git clone ${deployment.host.repositoryUrl} work`);
    expect(output).toContain(`has not connected ${deployment.host.url} to Parley`);
    expect(deployment.host.shown).toEqual([]);
  });

  test("[K14] a host includes its port and scheme: another one does not get its token", async () => {
    const { api } = await deployment.start(written(first));
    const encrypted = deployment.host.url.replace("http://", "");
    await connectHost(api, encrypted, TOKEN);
    await connectHost(api, "http://127.0.0.1", TOKEN);
    const { output } = await deployment.run(api, `git clone ${deployment.host.repositoryUrl} work`);
    expect(output).toContain(`has not connected ${deployment.host.url} to Parley`);
    expect(deployment.host.shown).toEqual([]);
  });

  test("removing or replacing an account takes effect with the next command", async () => {
    const { api } = await deployment.start(written(first));
    await connectHost(api, deployment.host.url, "another-token");
    expect((await deployment.run(api, `git clone ${deployment.host.repositoryUrl} one`)).exitCode).toBe(128);
    const { connection } = await connectHost(api, deployment.host.url, TOKEN);
    const again = await deployment.run(
      api,
      `git clone --quiet ${deployment.host.repositoryUrl} two && echo cloned`,
    );
    expect(again.output).toBe("cloned\n");
    await api.change("disconnectGitHost", { accountId: connection?.id }, "deletedId");
    expect((await deployment.run(api, `git clone ${deployment.host.repositoryUrl} three`)).output).toContain(
      "has not connected",
    );
  });

  test("a restarted agent provides tokens like the one before", async () => {
    const { api } = await deployment.start(written(first));
    await connectHost(api, deployment.host.url, TOKEN);
    const clone = (name: string) =>
      `git clone --quiet ${deployment.host.repositoryUrl} ${name} && echo cloned`;
    expect((await deployment.run(api, clone("one"))).output).toBe("cloned\n");
    await deployment.run(api, "kill -9 $PPID");
    expect((await deployment.run(api, clone("two"))).output).toBe("cloned\n");
  });

  test("an agent that dialed out provides tokens like any other", async () => {
    const { api, parley } = await deployment.start(written(first));
    await connectHost(api, deployment.host.url, TOKEN);
    const owner = await findOldestAdmin(parley.database);
    const token = createAgentToken();
    const wanted = { ownerId: owner?.id ?? "", name: "far", tokenHash: hashAgentToken(token) };
    const workspaceId = encodeId("ws", (await createExternalWorkspace(parley.database, wanted)) ?? "");
    const caller = startDialingAgent({
      token,
      directory: deployment.workspace,
      servers: [api.url.replace("http", "ws")],
    });
    try {
      await caller.untilOutput(1);
      const clone = `git clone --quiet ${deployment.host.repositoryUrl} far && echo cloned`;
      expect((await deployment.run(api, clone, { workspaceId })).output).toBe("cloned\n");
      expect(caller.log.map((line) => JSON.stringify(line)).filter((line) => line.includes(TOKEN))).toEqual(
        [],
      );
    } finally {
      await caller.end("SIGKILL");
    }
  });

  test("tokens survive a key rotation, and fail with a clear error without the old key", async () => {
    const before = await deployment.start(written(first));
    await connectHost(before.api, deployment.host.url, TOKEN);
    await before.parley.close();
    const both = await deployment.start(`${written(second)},${written(first)}`);
    const clone = (name: string) =>
      `git clone --quiet ${deployment.host.repositoryUrl} ${name} && echo cloned`;
    expect((await deployment.run(both.api, clone("one"))).output).toBe("cloned\n");
    await both.parley.close();
    const without = await deployment.start(written(second));
    const { output } = await deployment.run(without.api, clone("two"));
    expect(output).toContain(
      `parley: The token for ${deployment.host.url} cannot be read; connect the host again.`,
    );
    expect(deployment.logged()).toContain('"failure":"unknown-key"');
  });
});

describe("a server's reply to an agent", () => {
  const site = "https://git.example";

  test("[K13] an agent gets no token for a chat of another workspace, with the same reply as for an unconnected host", async () => {
    const { api, parley } = await deployment.start(written(first));
    await connectHost(api, "git.example", TOKEN);
    const { chatId } = await deployment.run(api, "true");
    const parts = credentialDependencies(parley, first);
    const work = { branch: "main", remoteOrigin: "https://git.example/a.git" };
    const ask = (workspaceId: string, chat: string, at = site) =>
      giveGitCredentials(parts, workspaceId, { chatId: chat, site: at, ...work });
    const own = parley.workspaceId ?? "";
    const refused = (name: string) => ({
      outcome: "refused",
      reason: `The chat's owner has not connected ${name} to Parley; they can do so with connectGitHost.`,
    });
    const elsewhere = "00000000-0000-4000-8000-000000000000";
    expect([
      await ask(elsewhere, chatId),
      await ask(own, elsewhere),
      await ask(own, "no-chat-at-all"),
      await ask(own, `${chatId}' OR 1=1 --`),
    ]).toEqual([refused("git.example"), refused("git.example"), refused(site), refused(site)]);
    expect(await diffStatuses(deployment)).toEqual([]);
    expect(await ask(own, chatId)).toEqual({ outcome: "given", username: "oauth2", password: TOKEN });
    expect(await ask(own, chatId, "https://github.com")).toEqual(refused("github.com"));
    expect(await ask(own, chatId, "nonsense at all")).toEqual(refused("nonsense at all"));
    // The username comes from the host. GitLab accepts any name with some tokens, this host with all of them.
    for (const [kind, username] of [
      ["github", "ada"],
      ["gitlab", "oauth2"],
    ]) {
      await deployment.query("UPDATE git_connections SET login = 'ada', kind = $1", [kind]);
      expect(await ask(own, chatId)).toEqual({ outcome: "given", username, password: TOKEN });
    }
  });

  test("[K15] without a branch or origin nothing is recorded, and a later branch replaces an earlier one", async () => {
    const { api, parley } = await deployment.start(written(first));
    const { chatId } = await deployment.run(api, "true");
    const parts = credentialDependencies(parley, first);
    const ask = (more: { branch?: string; remoteOrigin?: string }) =>
      giveGitCredentials(parts, parley.workspaceId ?? "", { chatId, site, ...more });
    await ask({ branch: "main" });
    await ask({ remoteOrigin: "https://git.example/a.git" });
    await ask({ branch: "", remoteOrigin: "https://git.example/a.git" });
    expect(await diffStatuses(deployment)).toEqual([]);
    await ask({ branch: "one", remoteOrigin: "https://git.example/a.git" });
    await ask({ branch: "two", remoteOrigin: "https://git.example/b.git" });
    expect(await diffStatuses(deployment)).toEqual([
      { chatId, branch: "two", origin: "https://git.example/b.git", isStale: true },
    ]);
  });
});
