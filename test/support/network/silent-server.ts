// A server that accepts connections and never answers.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** Starts a server that accepts every connection and never responds. */
export async function startSilentServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
