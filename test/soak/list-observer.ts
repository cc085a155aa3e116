// Subscribes to the chat list during the whole soak, over connections that break, and maintains it like a sidebar.
import { isDeepStrictEqual } from "node:util";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { ListFollower, type Row } from "../support/clients/list-follower.js";
import { Chance, type Tally } from "./chance.js";
import type { Deployment } from "./deployment.js";

type Dependencies = { deployment: Deployment; tally: Tally; seed: number };

/** Delay before reconnecting. */
const RECONNECT_DELAY_MS = 50;
export class ListObserver {
  readonly #chance: Chance;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #follower: ListFollower | null = null;

  constructor(
    private readonly dependencies: Dependencies,
    number: number,
  ) {
    this.#chance = Chance.of(dependencies.seed, "list onlooker", number);
    this.#done = this.#follow();
  }

  get rows(): ReadonlyMap<string, Row> {
    return this.#follower?.rows ?? new Map<string, Row>();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#follower?.close();
    await this.#done;
  }

  async #follow(): Promise<void> {
    const { deployment, tally } = this.dependencies;
    let from: ConstructorParameters<typeof ListFollower>[1] = { cursor: null };
    while (!this.#end.signal.aborted) {
      const follower = new ListFollower(deployment.server(this.#chance), from);
      this.#follower = follower;
      await follower.ended;
      await follower.close();
      for (const event of follower.story) tally.add("list events", event.split(" ")[0] ?? "");
      // A connection that ended while the list was being read has no complete list to resume from.
      const isReading = follower.story.at(-1)?.startsWith("refresh");
      from = isReading ? { cursor: null } : { cursor: follower.cursor, rows: follower.rows };
      await sleep(systemClock, RECONNECT_DELAY_MS, this.#end.signal);
    }
  }
}

/** Describes the differences between the observed list and the API's. Pure. */
export function listDifferences(seen: ReadonlyMap<string, Row>, actual: ReadonlyMap<string, Row>): string[] {
  const differences = [...seen]
    .filter(([id, row]) => !isDeepStrictEqual(row, actual.get(id)))
    .map(([id, row]) => `saw ${JSON.stringify(row)} where the API returns ${JSON.stringify(actual.get(id))}`);
  if (seen.size < actual.size) differences.push(`has ${seen.size} of ${actual.size} chats`);
  return differences;
}
