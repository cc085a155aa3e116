// Agents that the operator runs, as the server connects to them.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { AGENT_PROTOCOL_VERSION } from "../../src/agent/protocol/paths.js";
import { systemClock } from "../../src/lib/clock.js";
import { connectAttachedAgent } from "../../src/workspaces/attached-agent.js";

test("an agent that would start MCP servers without permission is not used", async () => {
  const health = { version: AGENT_PROTOCOL_VERSION - 1, programVersion: "0.0.1", capabilities: [] };
  const old = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...health, workingDirectory: "/", instanceId: "1" }));
  });
  await once(old.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
  const connected = connectAttachedAgent({ directory: "/", url, token: "t".repeat(16) }, systemClock);
  await expect(connected).rejects.toThrow(
    `The workspace agent at ${url} is of another version of Parley. Update it.`,
  );
  old.close();
});
