// TCP proxy that simulates a broken network: cuts connections anywhere, also in the middle of their data; transforms
// given by the caller may delay or change the data.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { pipeline, Transform } from "node:stream";

/** Draws a whole number from 0 to below the bound. */
export type Draw = (below: number) => number;

export type SocketProxyOptions = {
  /** Where on this machine the connections go: a port, or the path of a Unix socket. */
  port: number | string;
  /** Creates the transforms of a connection's bytes; connections count from 0. */
  toServer?: (connection: number) => Transform;
  toClient?: (connection: number) => Transform;
};

/** A connection that is to be cut in the middle of something is cut anyway when it has been silent for so long. */
const LONGEST_SILENCE_MS = 500;

export class SocketProxy {
  readonly #open = new Set<Connection>();
  #accepted = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: SocketProxyOptions,
  ) {
    server.on("connection", (client) => this.#join(client));
  }

  static async start(options: SocketProxyOptions): Promise<SocketProxy> {
    const server = createServer({ noDelay: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SocketProxy(server, { ...options });
  }

  /** Where clients connect to, on this machine. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#open.size;
  }

  /** Sends later connections to another address. */
  moveTo(port: number | string): void {
    this.options.port = port;
  }

  /**
   * Cuts one of the connections, at once or in the middle of the next bytes, with or without a reset. False when there
   * is none.
   */
  cut(draw: Draw): boolean {
    const whole = [...this.#open].filter(({ isDoomed }) => !isDoomed);
    const connection = whole[draw(Math.max(1, whole.length))];
    connection?.cut(draw);
    return connection !== undefined;
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    for (const connection of this.#open) connection.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  #join(client: Socket): void {
    const number = this.#accepted;
    this.#accepted += 1;
    const { port, toServer, toClient } = this.options;
    const stages = { toServer: toServer?.(number), toClient: toClient?.(number) };
    const upstream =
      typeof port === "string"
        ? connect({ path: port })
        : connect({ port, host: "127.0.0.1", noDelay: true });
    const connection = new Connection(client, upstream, stages);
    this.#open.add(connection);
    client.once("close", () => this.#open.delete(connection));
  }
}

type Stages = { toServer: Transform | undefined; toClient: Transform | undefined };

class Connection {
  /** Set once the connection is to be cut within the next bytes. */
  #doom: { draw: Draw; silence: NodeJS.Timeout } | null = null;

  constructor(
    private readonly client: Socket,
    private readonly upstream: Socket,
    { toServer, toClient }: Stages,
  ) {
    this.#join(client, toServer, upstream);
    this.#join(upstream, toClient, client);
  }

  get isDoomed(): boolean {
    return this.#doom !== null;
  }

  cut(draw: Draw): void {
    if (draw(2) === 0) return this.#end(draw);
    this.#doom = { draw, silence: setTimeout(() => this.#end(draw), LONGEST_SILENCE_MS) };
  }

  destroy(): void {
    clearTimeout(this.#doom?.silence);
    this.client.destroy();
    this.upstream.destroy();
  }

  #end(draw: Draw): void {
    if (draw(2) === 0) {
      this.client.resetAndDestroy();
      this.upstream.resetAndDestroy();
    }
    this.destroy();
  }

  #join(from: Socket, stage: Transform | undefined, to: Socket): void {
    // `close` ends the other half, however this one ended.
    pipeline([from, ...(stage ? [stage] : []), this.#blade(), to], () => this.destroy());
    from.once("close", () => this.destroy());
  }

  /** Lets everything through until the connection is doomed: then only the beginning of the next bytes. */
  #blade(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (!this.#doom) return done(null, chunk);
        const { draw } = this.#doom;
        done(null, chunk.subarray(0, draw(chunk.length)));
        setImmediate(() => this.#end(draw));
      },
    });
  }
}

/** Delays that percentage of chunks, and what follows them. */
export class Slowness extends Transform {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly draw: Draw,
    private readonly slow: { percent: number; longestMs: number },
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    if (this.draw(100) >= this.slow.percent) return done(null, chunk);
    this.#timer = setTimeout(() => done(null, chunk), this.draw(this.slow.longestMs));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    done(error);
  }
}
