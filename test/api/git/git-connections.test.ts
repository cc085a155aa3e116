// Git host accounts: which can be connected, and who can see them.
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import { giveGitCredentials } from "../../../src/services/git/git-credentials.js";
import { ApiClient } from "../../support/clients/api-client.js";
import {
  connectHost,
  connections,
  createGitDeployment,
  type GitDeployment,
  credentialDependencies,
} from "../../support/git/git-deployment.js";

const TOKEN = `token_${randomBytes(20).toString("hex")}`;
const keyOf = (id: string) => ({ id, bytes: randomBytes(32) });
const written = ({ id, bytes }: { id: string; bytes: Buffer }) => `${id}:${bytes.toString("base64")}`;
const first = keyOf("first");

let deployment: GitDeployment;
beforeEach(async () => {
  deployment = await createGitDeployment(TOKEN);
});
afterEach(() => deployment.remove());

test("accounts are listed by host, looked up by ID, replaced and removed", async () => {
  const { api } = await deployment.start(written(first));
  const one = await connectHost(api, "https://GitHub.com/", TOKEN);
  const two = await connectHost(api, "git.example:8443", `  ${TOKEN}\n`);
  expect([one.userErrors, two.userErrors]).toEqual([[], []]);
  expect(one.connection).toEqual({
    id: expect.stringMatching(/^git_[0-9a-f-]{36}$/) as string,
    host: "github.com",
    login: null,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
  });
  expect(await connections(api)).toEqual([two.connection, one.connection]);
  const query = "query ($id: ID!) { node(id: $id) { ... on GitHostAccount { id host } } }";
  expect(await api.get(query, { id: one.connection?.id })).toEqual({
    node: { id: one.connection?.id, host: "github.com" },
  });
  const replaced = await connectHost(api, "github.com", "newer");
  expect(replaced.connection?.id).not.toBe(one.connection?.id);
  expect(await connections(api)).toEqual([two.connection, replaced.connection]);
  const end = (accountId = "") => api.change("disconnectGitHost", { accountId }, "deletedId");
  expect(await end(replaced.connection?.id)).toEqual({
    deletedId: replaced.connection?.id,
    userErrors: [],
  });
  const gone = { code: "NOT_FOUND", message: "There is no such git host account.", path: ["accountId"] };
  expect(await end(replaced.connection?.id)).toMatchObject({ deletedId: null, userErrors: [gone] });
  expect(await connections(api)).toEqual([two.connection]);
});

test("users cannot see or remove each other's accounts, not even admins", async () => {
  const server = await deployment.start(written(first));
  const bob = await server.enter("bob");
  const { connection } = await connectHost(bob, "github.com", TOKEN);
  expect(await connections(server.api)).toEqual([]);
  const query = "query ($id: ID!) { node(id: $id) { id } }";
  expect(await server.api.get(query, { id: connection?.id })).toEqual({ node: null });
  const ended = await server.api.change("disconnectGitHost", { accountId: connection?.id }, "deletedId");
  expect(ended).toMatchObject({ deletedId: null, userErrors: [{ code: "NOT_FOUND" }] });
  expect(await connections(bob)).toEqual([connection]);
  const anonymous = new ApiClient(server.api.url, null);
  const { errors } = await anonymous.ask("{ viewer { gitHostAccounts { id } } }");
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(["UNAUTHENTICATED"]);
});

test("an invalid host or token is refused, and not echoed", async () => {
  const { api } = await deployment.start(written(first));
  const hosts = ["", "github.com/ada", "ada@github.com", "ssh://github.com", "two words", "x".repeat(10_000)];
  for (const name of hosts) {
    const { connection, userErrors } = await connectHost(api, name, TOKEN);
    expect({ connection, userErrors }).toMatchObject({
      connection: null,
      userErrors: [{ code: "INVALID", path: ["host"] }],
    });
  }
  const tokens = ["", " \n", "two words", "line\nline", "tökén", "zero\u0000", "x".repeat(4_097)];
  for (const token of tokens) {
    const { connection, userErrors } = await connectHost(api, "github.com", token);
    expect({ connection, userErrors }).toMatchObject({
      connection: null,
      userErrors: [{ code: "INVALID", path: ["token"] }],
    });
  }
  expect(await connections(api)).toEqual([]);
  expect((await connectHost(api, "github.com", "x".repeat(4_096))).userErrors).toEqual([]);
});

test("a user has at most 50 accounts, and can still replace one of them", async () => {
  const { api } = await deployment.start(written(first));
  for (let i = 0; i < 50; i += 1) await connectHost(api, `git${i}.example`, TOKEN);
  const { userErrors } = await connectHost(api, "one-more.example", TOKEN);
  expect(userErrors).toMatchObject([{ code: "LIMIT_EXCEEDED" }]);
  expect((await connectHost(api, "git7.example", TOKEN)).userErrors).toEqual([]);
  expect(await connections(api)).toHaveLength(50);
});

test("two concurrent connects to one host leave one working account", async () => {
  const { api, parley } = await deployment.start(written(first));
  await Promise.all(Array.from({ length: 8 }, () => connectHost(api, "git.example", TOKEN)));
  expect(await connections(api)).toHaveLength(1);
  const { chatId } = await deployment.run(api, "true");
  const parts = credentialDependencies(parley, first);
  const asked = { chatId, site: "https://git.example" };
  expect(await giveGitCredentials(parts, parley.workspaceId ?? "", asked)).toMatchObject({
    outcome: "given",
  });
});

test("a server with an external database and no secrets key does not start, and says how to create one", async () => {
  await expect(deployment.start("")).rejects.toThrow(/PARLEY_SECRETS_KEYS is not.*parley secrets new-key/);
});

test("an ID of another kind is refused with its name", async () => {
  const { api } = await deployment.start(written(first));
  const query =
    "mutation ($input: DisconnectGitHostInput!) { disconnectGitHost(input: $input) { deletedId } }";
  const accountId = encodeId("ws", "00000000-0000-4000-8000-000000000000");
  const { errors } = await api.ask(query, { input: { accountId } });
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringContaining("accountId must be the ID of a Git host account (git_…)"),
  ]);
});
