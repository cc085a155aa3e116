/**
 * The registered tool servers in turns: opened side by side when a turn first needs them, kept for it, left when it is
 * over, however it ended. What cannot be used is told to people and does not hold the turn up.
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

export type TurnServersDependencies = TurnServerDependencies & { catalog: McpServerCatalog };

/** Whose turn it is, where, and what is selected in it. */
export type ServersOfTurn = { chatId: string; userId: string; selectedIds: readonly string[] };

/** All turns' servers of this process. */
export class McpTurnServers {
  readonly #closing = new Set<Promise<void>>();

  constructor(private readonly parts: TurnServersDependencies) {}

  /** Costs nothing before it is asked for tools. */
  begin(turn: ServersOfTurn): TurnServers {
    return new TurnServers(this.parts, turn, (closing) => this.#keep(closing));
  }

  /** Resolves when every server is left whose turn is over. */
  async close(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #keep(closing: Promise<void>): void {
    const kept = closing.finally(() => this.#closing.delete(kept));
    this.#closing.add(kept);
  }
}

export class TurnServers {
  #links: ServerConnection[] = [];
  readonly #failures = new Map<string, NoticePart>();
  #opening: Promise<void> | undefined;
  #isOver = false;

  constructor(
    private readonly parts: TurnServersDependencies,
    private readonly turn: ServersOfTurn,
    private readonly keep: (closing: Promise<void>) => void,
  ) {}

  /** Resolves when each server is open or given up, or `signal` is aborted. Never rejects; ten seconds at most. */
  async open(signal: AbortSignal): Promise<void> {
    this.#opening ??= this.#open();
    await until(this.#opening, signal);
  }

  /** As `open`; after that, tools that servers have said to be others are the new ones. */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.open(signal);
    await until(Promise.all(this.#links.map((link) => link.refresh())), signal);
  }

  /** Named `slug__tool`, not yet fit for vendors. */
  tools(): ServerTool[] {
    return this.#links.flatMap((link) =>
      link.tools.map(({ name, description, inputSchema }) => ({
        name: `${link.server.slug}__${name}`,
        serverId: link.server.id,
        description,
        inputSchema,
        checksArguments: true,
        run: (args, context) => link.call(name, args, context),
      })),
    );
  }

  /** What people are to know, one for each server that cannot be used. */
  notices(): NoticePart[] {
    const refused = this.#links
      .filter(({ lostRight }) => lostRight !== undefined)
      .map(({ server, lostRight }) => notice(server, `wants to be authorised anew: ${lostRight}`));
    return [...this.#failures.values(), ...refused];
  }

  /** Returns at once; the servers are left in the background. */
  close(): void {
    this.#isOver = true;
    if (this.#links.length > 0)
      this.keep(Promise.all(this.#links.map((link) => link.close())).then(() => undefined));
  }

  async #open(): Promise<void> {
    const { catalog, log } = this.parts;
    const { chatId, selectedIds } = this.turn;
    try {
      const servers = await catalog.ofTurn(selectedIds);
      if (this.#isOver) return;
      this.#links = servers.map((server) => new ServerConnection(this.parts, server, this.turn));
      await Promise.all(this.#links.map((link) => this.#openLink(link)));
    } catch (error) {
      log.error({ err: error, chatId }, "A turn's tool servers are not known");
      this.#failures.set("", {
        type: "notice",
        level: "warning",
        text: "The tool servers of this chat could not be read; this turn goes on without them.",
      });
    }
  }

  async #openLink(link: ServerConnection): Promise<void> {
    const { server } = link;
    try {
      await link.open();
    } catch (error) {
      if (this.#isOver) return;
      const facts = { err: error, chatId: this.turn.chatId, server: server.slug };
      this.parts.log.warn(facts, "A tool server is not used in a turn");
      this.#failures.set(server.id, notice(server, `is not used in this turn: ${reasonOf(error)}`));
    }
  }
}

function notice({ id, displayName }: McpServerRecord, text: string): NoticePart {
  const words = cutString(`The tool server ${displayName} ${text}`, MAX_NOTICE_CHARACTERS);
  return { type: "notice", level: "warning", text: words, mcpServerId: id };
}

function reasonOf(error: unknown): string {
  const isWorded = error instanceof McpFailure || error instanceof NotAuthorized;
  return isWorded ? error.message : "It could not be reached.";
}

/** As `work`, but no longer than until `signal` is aborted. */
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
