/** Cache of the enabled MCP servers, so that a turn executes no statement for them. */
import type { Bus } from "../../events/bus/bus.js";
import type { Clock } from "../../lib/clock.js";
import { type Memoized, memoizeWithTtl } from "../../lib/concurrency/memoize.js";
import type { Queryable } from "../../store/common/database.js";
import { listMcpServers, type McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { McpServerCatalog } from "./ports.js";

export type CatalogDependencies = { database: Queryable; clock: Clock; bus: Pick<Bus, "onConfigChange"> };

/** Invalidated when any replica announces a change, and after ten seconds in case the announcement was lost. */
export class ServerCatalog implements McpServerCatalog {
  readonly #enabled: Memoized<readonly McpServerRecord[]>;
  readonly #stopListening: () => void;

  constructor({ database, clock, bus }: CatalogDependencies) {
    this.#enabled = memoizeWithTtl(
      () => clock.now(),
      async () => (await listMcpServers(database)).filter(({ isEnabled }) => isEnabled),
    );
    this.#stopListening = bus.onConfigChange((topic) => {
      if (topic === "mcp-servers") this.#enabled.invalidate();
    });
  }

  async ofTurn(selectedIds: readonly string[]): Promise<readonly McpServerRecord[]> {
    const selected = new Set(selectedIds);
    const servers = await this.#enabled();
    return servers.filter(({ id, availability }) => availability === "force_on" || selected.has(id));
  }

  async preselectedIds(): Promise<string[]> {
    const servers = await this.#enabled();
    return servers.filter(({ availability }) => availability === "default_on").map(({ id }) => id);
  }

  close(): void {
    this.#stopListening();
  }
}
