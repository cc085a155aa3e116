// A network between a client and a server that a test can break.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type CuttableProxy = {
  /** The server's address by way of the proxy, without a path. */
  url: string;
  /** Where the next connections go. */
  target: string;
  /** Connections so far that spoke WebSocket. */
  sockets: number;
  /** Destroys every open WebSocket without a word, and lets new ones through; how many there were. */
  cut(): number;
  close(): Promise<void>;
};

export async function startCuttableProxy(target: string): Promise<CuttableProxy> {
  const open = new Set<Socket>();
  const upgraded = new Set<Socket>();
  const server = createServer((client) => {
    const { hostname, port } = new URL(proxy.target);
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
    client.once("data", (start: Buffer) => {
      if (!/upgrade: *websocket/i.test(start.toString("latin1"))) return;
      proxy.sockets += 1;
      upgraded.add(client);
      client.on("close", () => upgraded.delete(client));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: CuttableProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    sockets: 0,
    cut() {
      const cut = [...upgraded];
      for (const socket of cut) socket.destroy();
      return cut.length;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
