/**
 * Reuse of connections: consecutive calls share one, since each handshake would cost a round trip to the vendor.
 */
import { createServer, connect as connectTo } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startDemoModel } from "../../src/demo-model/server.js";
import { createProvider } from "../../src/providers/registry.js";

test.each(["anthropic", "google", "bedrock"] as const)(
  "consecutive calls share one connection to %s",
  async (kind) => {
    const demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
    let connections = 0;
    const server = createServer((client) => {
      connections += 1;
      const vendor = connectTo(Number(new URL(demo.url).port), "127.0.0.1");
      client.pipe(vendor).pipe(client);
      client.on("error", () => vendor.destroy());
      vendor.on("error", () => client.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { kind, displayName: "Acme", apiKey: "k", baseUrl };
    const provider = await createProvider({ ...settings, openaiApi: "responses" });
    const request = { model: "demo", system: "", tools: [], maxOutputTokens: 100 };
    const messages = [
      { role: "user" as const, parts: [{ type: "text" as const, text: "[[demo: deltas=3]]" }] },
    ];
    for (let call = 0; call < 5; call += 1) {
      let finished = 0;
      for await (const part of provider.stream({ ...request, messages }, new AbortController().signal)) {
        if (part.type === "finish") finished += 1;
      }
      expect(finished).toBe(1);
      // In production the user or a tool acts between two calls; here the rest of the answer must be read first.
      await new Promise((resolve) => setImmediate(resolve));
    }
    server.close();
    await demo.close();
    expect(connections).toBeLessThan(5);
  },
);
