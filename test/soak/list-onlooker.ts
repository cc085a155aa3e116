// Follows the list of all chats through the soak, over connections that break, and keeps what a sidebar would show.
import { isDeepStrictEqual } from "node:util";
import { sleep, systemClock } from "../../src/lib/clock.js";
import { ListFollower, type Row } from "../support/clients/list-follower.js";
import { Chance, type Tally } from "./chance.js";
import type { Deployment } from "./deployment.js";

type Parts = { deployment: Deployment; tally: Tally; seed: number };

/** A server that is gone is not asked again at once. */
const RETURN_AFTER_MS = 50;
export class ListOnlooker {
  readonly #chance: Chance;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #follower: ListFollower | null = null;

  constructor(
    private readonly parts: Parts,
    number: number,
  ) {
    this.#chance = Chance.of(parts.seed, "list onlooker", number);
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
    const { deployment, tally } = this.parts;
    let from: ConstructorParameters<typeof ListFollower>[1] = { cursor: null };
    while (!this.#end.signal.aborted) {
      const follower = new ListFollower(deployment.server(this.#chance), from);
      this.#follower = follower;
      await follower.ended;
      await follower.close();
      for (const event of follower.story) tally.add("list events", event.split(" ")[0] ?? "");
      // Whoever was cut off while reading the list does not hold it: that place is no place to go on from.
      const isReading = follower.story.at(-1)?.startsWith("refresh");
      from = isReading ? { cursor: null } : { cursor: follower.cursor, rows: follower.rows };
      await sleep(systemClock, RETURN_AFTER_MS, this.#end.signal);
    }
  }
}

/** Sentences about what a sidebar shows otherwise than the API. Pure. */
export function listDifferences(held: ReadonlyMap<string, Row>, truth: ReadonlyMap<string, Row>): string[] {
  const differences = [...held]
    .filter(([id, row]) => !isDeepStrictEqual(row, truth.get(id)))
    .map(([id, row]) => `saw ${JSON.stringify(row)} where the API shows ${JSON.stringify(truth.get(id))}`);
  if (held.size < truth.size) differences.push(`holds ${held.size} of ${truth.size} chats`);
  return differences;
}
