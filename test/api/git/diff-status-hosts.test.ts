// What a sidebar on another server receives of a branch's life on its Git host. `PARLEY_PRINT_DELAYS=1` prints the
// delay of each change after the host's response.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectHost } from "../../support/git/git-deployment.js";
import { startGitHubShaped } from "../../support/git/github-shaped.js";
import { startGitLabShaped } from "../../support/git/gitlab-shaped.js";
import { ListFollower } from "../../support/clients/list-follower.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../../support/network/redis.js";
import { greeterProject, type ShapedAnswer, type ShapedHost } from "../../support/git/git-host-server.js";
import { type StagedModel, startStagedModel } from "../../support/models/staged-model.js";

let redis: TestRedis;
let model: StagedModel;
beforeAll(async () => {
  if (hasRedis) [redis, model] = await Promise.all([startRedis(), startStagedModel()]);
});
afterAll(async () => {
  if (hasRedis) await Promise.all([redis.stop(), model.close()]);
});

const LISTED = { additions: 3, headBranch: "hello", isStale: false };
const PULL = { number: 7, state: "OPEN", hasChangesRequested: false };

describe.skipIf(!hasRedis).each([
  ["GitHub", startGitHubShaped],
  ["GitLab", startGitLabShaped],
])("at %s", (name, startHost) => {
  let host: ShapedHost;
  let environment: TestEnvironment;
  let here: TestParley;
  let there: TestParley;
  let chatId: string;
  beforeAll(async () => {
    [host, environment] = await Promise.all([startHost(), createTestEnvironment()]);
    const settings = { REDIS_URL: redis.url, PARLEY_GIT_HOSTS_PRIVATE_NETWORK: "on", ...model.settings };
    here = await environment.start(settings);
    there = await environment.start({ ...settings, PARLEY_ROLE: "api" });
    host.projects.set("ada/greeter", greeterProject());
    await connectHost(here.api, host.host, "token-of-ada");
  });
  afterAll(async () => {
    await environment.remove();
    await host.close();
  });

  /** Two chats: one works on the branch, the other does not use git. */
  async function work(): Promise<void> {
    const origin = host.originOf("ada/greeter");
    const command = `git checkout -b hello; git remote add origin ${origin}; git fetch origin; true`;
    const execute = { id: "call_1", name: "execute", arguments: { command, timeout: "80s" } };
    model.cast(`branch at ${name}`, [{ toolCalls: [execute] }, { text: "Done." }]);
    const made = await Promise.all([here.api.createChat(`branch at ${name}`), here.api.createChat("rest")]);
    [chatId] = made;
    for (const it of made.map((id) => here.api.follow(id))) {
      await it.untilStatus("WAITING", "ERROR");
      await it.close();
    }
  }

  async function refresh(): Promise<string[]> {
    const { userErrors } = await here.api.change<{ userErrors: { code: string }[] }>(
      "refreshChatDiff",
      { chatId },
      "diffStatus { headBranch }",
    );
    return userErrors.map(({ code }) => code);
  }

  test("the sidebar receives each change once, and for that chat only", async () => {
    const list = new ListFollower(there.api);
    await list.until(({ story }) => story.some((word) => word.startsWith("caught-up")));
    await work();
    await list.until(({ branches }) => branches.length > 0);
    expect(list.branches[0]?.branch).toMatchObject({ headBranch: "hello", isStale: true });
    const branchesReceived = () => list.branches.slice(1).map(({ branch }) => branch);
    const expected: object[] = [];
    const delays: string[] = [];
    /** Changes the host's state: one server's poll must find it, and a subscriber on the other must receive it. */
    const becomes = async (what: string, change: () => void, listed: object, errors: string[] = []) => {
      change();
      expected.push(listed);
      expect(await refresh()).toEqual(errors);
      const answeredAt = performance.now();
      await list.until(() => branchesReceived().length === expected.length);
      delays.push(`${what} ${(performance.now() - answeredAt).toFixed(1)}`);
      expect(branchesReceived()).toEqual(expected);
    };
    await becomes("branch", () => {}, { ...LISTED, pullRequest: null });
    const pull = () => host.projects.get("ada/greeter")?.pulls[0];
    const open = () => void host.open("ada/greeter", { number: 7, branch: "hello" });
    await becomes("opened", open, { ...LISTED, pullRequest: PULL });
    const review = (state: "APPROVED" | "CHANGES_REQUESTED") => () =>
      void pull()?.reviews.push({ reviewer: "bob", state });
    const criticised = { ...LISTED, pullRequest: { ...PULL, hasChangesRequested: true } };
    await becomes("criticised", review("CHANGES_REQUESTED"), criticised);
    await becomes("approved", review("APPROVED"), { ...LISTED, pullRequest: PULL });

    const stale = { ...LISTED, isStale: true, pullRequest: PULL };
    const fail = (failing: ShapedAnswer) => () => void (host.failing = failing);
    await becomes("500", fail({ status: 500, body: "oh" }), stale, ["UNAVAILABLE"]);
    host.failing = null;
    host.logins.clear();
    // Already marked stale.
    expect(await refresh()).toEqual(["UNAVAILABLE"]);
    const merge = () => {
      host.logins.set("token-of-ada", "ada");
      Object.assign(pull() ?? {}, { state: "merged" });
    };
    const merged = { ...LISTED, pullRequest: { ...PULL, state: "MERGED" } };
    await becomes("merged", merge, merged);
    const limited = { status: 429, headers: { "retry-after": "60" }, body: "slow" };
    await becomes("rate limit", fail(limited), { ...merged, isStale: true }, ["UNAVAILABLE"]);
    expect(branchesReceived()).toEqual(expected);
    expect(list.branches.every((it) => it.chatId === chatId)).toBe(true);
    if (process.env["PARLEY_PRINT_DELAYS"]) process.stdout.write(`${name}, ms: ${delays.join(", ")}\n`);
    await list.close();
  });
});
