// Whose call counts: one agent per workspace, whatever comes when.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import {
  claimWorkspace,
  createAgentToken,
  createExternalWorkspace,
  findWorkspaceOfAgent,
  isAgentExpected,
  listExternalWorkspaces,
  isWellFormedAgentToken,
  readAgentTokenHash,
  releaseRegistration,
  removeExternalWorkspace,
  renewRegistrations,
  replaceAgentToken,
} from "../../src/store/workspaces/external-workspaces.js";
import { createUser } from "../../src/store/users/users.js";
import { ensureLocalWorkspace, readWorkspace } from "../../src/store/workspaces/workspaces.js";
import { hashAgentToken } from "../../src/workspaces/tunnels/requests.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";

const LEASE_MS = 60_000;

let testDatabase: TestDatabase;
let database: Database;
let ownerId: string;
let workspaceId: string;
let tokenHash: Buffer;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(testDatabase.dataSource);
  const owner = await createUser(database, { username: "ada", name: "Ada", role: "member" });
  ownerId = owner?.id ?? "";
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await testDatabase.dataSource.query("DELETE FROM workspaces");
  tokenHash = hashAgentToken(createAgentToken());
  workspaceId = (await createExternalWorkspace(database, { ownerId, name: "far", tokenHash })) ?? "";
});

const agentOf = (instanceId: string) => ({
  instanceId,
  version: "1.2.3",
  workingDirectory: "/code",
  capabilities: ["files"],
});

/** The registration's id when the claim was good. */
async function claim(
  instanceId: string,
  more: { isFirst?: boolean; leaseMs?: number; tokenHash?: Buffer } = {},
): Promise<string | null> {
  const registrationId = randomUUID();
  const facts = { workspaceId, tokenHash, registrationId, isFirst: false, leaseMs: LEASE_MS, ...more };
  return (await claimWorkspace(database, { ...facts, agent: agentOf(instanceId) })) ? registrationId : null;
}

const shown = async () => {
  const record = await readWorkspace(database, workspaceId);
  return { status: record?.status, agent: record?.agent };
};

test("a workspace runs while its agent is registered, and stops when it deregisters", async () => {
  expect(await shown()).toEqual({ status: "stopped", agent: null });
  const registration = await claim("one");
  expect(await shown()).toEqual({ status: "running", agent: agentOf("one") });
  expect(await isAgentExpected(database, workspaceId)).toBe(true);
  await releaseRegistration(database, registration ?? "");
  expect(await shown()).toEqual({ status: "stopped", agent: null });
  expect(await isAgentExpected(database, workspaceId)).toBe(false);
});

test("a registration that is not renewed expires", async () => {
  await claim("one", { leaseMs: -1 });
  expect(await shown()).toEqual({ status: "stopped", agent: null });
  expect(await claim("two")).not.toBeNull();
});

test("[A15] an agent that reconnects does not replace a living one; one that connects for the first time does", async () => {
  const one = await claim("one");
  expect(await claim("two")).toBeNull();
  expect((await shown()).agent?.instanceId).toBe("one");
  const two = await claim("two", { isFirst: true });
  expect((await shown()).agent?.instanceId).toBe("two");
  expect(await claim("one")).toBeNull();
  const ids = [one ?? "", two ?? ""];
  expect(await renewRegistrations(database, ids, LEASE_MS)).toEqual(new Set([two]));
  // The goodbye of the one that was replaced says nothing about the other.
  await releaseRegistration(database, one ?? "");
  expect((await shown()).status).toBe("running");
  await releaseRegistration(database, two ?? "");
  expect(await claim("one")).not.toBeNull();
});

test("an agent that reconnects replaces its own registration, and the old one is void", async () => {
  const before = await claim("one");
  const after = await claim("one");
  expect(await renewRegistrations(database, [before ?? "", after ?? ""], LEASE_MS)).toEqual(new Set([after]));
});

test("of many first connections at one time all are accepted, and one is registered in the end", async () => {
  const instances = Array.from({ length: 20 }, (_, index) => `agent ${index}`);
  const claims = await Promise.all(instances.map((instance) => claim(instance, { isFirst: true })));
  const ids = claims.filter((id) => id !== null);
  expect([ids.length, (await renewRegistrations(database, ids, LEASE_MS)).size]).toEqual([20, 1]);
});

test("[A19] a replaced token ends the old one and the registration that was made with it", async () => {
  const registration = await claim("one");
  const next = hashAgentToken(createAgentToken());
  expect(await replaceAgentToken(database, { ownerId, name: "far" }, next)).toBe(workspaceId);
  expect(await renewRegistrations(database, [registration ?? ""], LEASE_MS)).toEqual(new Set());
  expect(await findWorkspaceOfAgent(database, tokenHash)).toBeNull();
  expect(await findWorkspaceOfAgent(database, next)).toEqual({ id: workspaceId, name: "far" });
  expect(await claim("one", { isFirst: true })).toBeNull();
  expect(await claim("one", { tokenHash: next })).not.toBeNull();
});

test("a user has one external workspace of a name, which can be removed", async () => {
  const again = { ownerId, name: "far", tokenHash: hashAgentToken(createAgentToken()) };
  expect(await createExternalWorkspace(database, again)).toBeNull();
  expect(await listExternalWorkspaces(database)).toEqual([
    { id: workspaceId, name: "far", owner: "ada", status: "stopped" },
  ]);
  expect(await removeExternalWorkspace(database, { ownerId, name: "other" })).toBeNull();
  expect(await removeExternalWorkspace(database, { ownerId, name: "far" })).toBe(workspaceId);
  expect(await listExternalWorkspaces(database)).toEqual([]);
});

test("a local workspace has no agent token, whatever its name", async () => {
  const local = await ensureLocalWorkspace(database, { ownerId, directory: "/here", name: "here" });
  const which = { ownerId, name: "here" };
  expect([
    await readAgentTokenHash(database, local.id),
    await replaceAgentToken(database, which, tokenHash),
    await removeExternalWorkspace(database, which),
  ]).toEqual([null, null, null]);
});

test("only a well-formed token is looked up in the database", () => {
  const token = createAgentToken();
  expect(
    [token, `${token}x`, token.slice(1), "", `ply_${token.slice(4)}`].map(isWellFormedAgentToken),
  ).toEqual([...[true, false, false, false, false]]);
});
