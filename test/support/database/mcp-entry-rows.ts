// Inserts entries of workspaces' `.mcp.json` straight into the database, for tests of what is listed and allowed.
import { randomUUID } from "node:crypto";
import { entryText } from "../../../src/domain/mcp/workspace-entry.js";
import { hashOf } from "../../../src/lib/hash.js";
import type { Database } from "../../../src/store/common/database.js";
import { allowMcpEntry, replaceMcpRequests } from "../../../src/store/workspaces/workspace-mcp-entries.js";

/** Replaces the workspace's requests by a new one; returns its hash. */
export async function insertMcpRequest(db: Database, workspaceId: string): Promise<string> {
  const entry = {
    name: randomUUID(),
    transport: "stdio" as const,
    command: "node",
    args: ["server.js"],
    env: {},
  };
  const hash = hashOf(entryText(entry));
  const report = { hash, entry, configFile: "/w/.mcp.json", linkTarget: null };
  await db.transaction((transaction) => replaceMcpRequests(transaction, workspaceId, [report]));
  return hash;
}

/** As `insertMcpRequest`; then allows it. */
export async function insertAllowedMcpEntry(
  db: Database,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<string> {
  const hash = await insertMcpRequest(db, workspaceId);
  await allowMcpEntry(db, { workspaceId, hash }, { at: Date.now(), userId });
  return hash;
}
