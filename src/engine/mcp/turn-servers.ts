/**
 * Connections of turns to registered MCP servers: opened concurrently when a turn first needs them, and closed when it is
 * over, however it ended. A server that cannot be used becomes a notice for users and does not delay the turn.
 */
import type { NoticePart } from "../../domain/chats/message-parts.js";
import { cutString } from "../../lib/text/cut-string.js";
import { McpFailure } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { ServerTool } from "./external-tools.js";
import type { McpServerCatalog } from "../../services/mcp/ports.js";
import { NotAuthorized } from "../../services/mcp/connect-server.js";
import { ServerConnection, type TurnServerDependencies } from "./server-connection.js";

const MAX_NOTICE_CHARACTERS = 1_000;

type TurnServersDependencies = TurnServerDependencies & { catalog: McpServerCatalog };

/** The chat and owner of a turn, and the servers selected for it. */
type TurnSelection = { chatId: string; userId: string; selectedIds: readonly string[] };

/** Connections of all turns of this process. */
export class McpTurnServers {
  readonly #closing = new Set<Promise<void>>();

  constructor(private readonly dependencies: TurnServersDependencies) {}

  /** Opens no connection before tools are needed. */
  begin(turn: TurnSelection): TurnServers {
    return new TurnServers(this.dependencies, turn, (closing) => this.#track(closing));
  }

  /** Resolves when the connections of all ended turns are closed. */
  async close(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #track(closing: Promise<void>): void {
    const tracked = closing.finally(() => this.#closing.delete(tracked));
    this.#closing.add(tracked);
  }
}

export class TurnServers {
  #connections: ServerConnection[] = [];
  readonly #failures = new Map<string, NoticePart>();
  #opening: Promise<void> | undefined;
  #isOver = false;

  constructor(
    private readonly dependencies: TurnServersDependencies,
    private readonly turn: TurnSelection,
    private readonly track: (closing: Promise<void>) => void,
  ) {}

  /** Resolves when each server is open or has failed, or `signal` is aborted. Never rejects; takes at most ten seconds. */
  async open(signal: AbortSignal): Promise<void> {
    this.#opening ??= this.#open();
    await until(this.#opening, signal);
  }

  /** As `open`, and lists the tools of servers again that have reported a change. */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.open(signal);
    await until(Promise.all(this.#connections.map((connection) => connection.refresh())), signal);
  }

  /** Named `slug__tool`; the names are not sanitized yet. */
  tools(): ServerTool[] {
    return this.#connections.flatMap((connection) =>
      connection.tools.map(({ name, description, inputSchema }) => ({
        name: `${connection.server.slug}__${name}`,
        serverId: connection.server.id,
        description,
        inputSchema,
        checksArguments: true,
        run: (args, context) => connection.call(name, args, context),
      })),
    );
  }

  /** One for each server that cannot be used. */
  notices(): NoticePart[] {
    const refused = this.#connections
      .filter(({ authorizationError }) => authorizationError !== undefined)
      .map(({ server, authorizationError }) =>
        notice(server, `wants to be authorised again: ${authorizationError}`),
      );
    return [...this.#failures.values(), ...refused];
  }

  /** Returns at once; connections are closed in the background. */
  close(): void {
    this.#isOver = true;
    if (this.#connections.length === 0) return;
    this.track(Promise.all(this.#connections.map((connection) => connection.close())).then(() => undefined));
  }

  async #open(): Promise<void> {
    const { catalog, log } = this.dependencies;
    const { chatId, selectedIds } = this.turn;
    try {
      const servers = await catalog.ofTurn(selectedIds);
      if (this.#isOver) return;
      this.#connections = servers.map((server) => new ServerConnection(this.dependencies, server, this.turn));
      await Promise.all(this.#connections.map((connection) => this.#openConnection(connection)));
    } catch (error) {
      log.error({ err: error, chatId }, "MCP servers of a turn could not be read");
      this.#failures.set("", {
        type: "notice",
        level: "warning",
        text: "The MCP servers of this chat could not be read; this turn goes on without them.",
      });
    }
  }

  async #openConnection(connection: ServerConnection): Promise<void> {
    const { server } = connection;
    try {
      await connection.open();
    } catch (error) {
      if (this.#isOver) return;
      const facts = { err: error, chatId: this.turn.chatId, server: server.slug };
      this.dependencies.log.warn(facts, "MCP server unavailable; turn continues without it");
      this.#failures.set(server.id, notice(server, `is not used in this turn: ${reasonOf(error)}`));
    }
  }
}

function notice({ id, displayName }: McpServerRecord, text: string): NoticePart {
  const shortened = cutString(`The MCP server ${displayName} ${text}`, MAX_NOTICE_CHARACTERS);
  return { type: "notice", level: "warning", text: shortened, mcpServerId: id };
}

function reasonOf(error: unknown): string {
  const isWorded = error instanceof McpFailure || error instanceof NotAuthorized;
  return isWorded ? error.message : "It could not be reached.";
}

/** Settles as `work` does, or resolves when `signal` is aborted. */
async function until(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  signal.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([work, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
