/**
 * Access to PostgreSQL. `dataSource` is TypeORM's, for entities and migrations; `query` and `transaction` are for
 * hand-written statements: prepared once per connection, counted and measured. Both use one pool.
 */
import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import { NO_METERS, type StatementMeter } from "../../domain/common/meters.js";
import { dedicatedPool } from "./dedicated-pool.js";
import { asOutage } from "./outages.js";
import type { PooledDataSource } from "../pooled-data-source.js";

/** One hand-written statement. `name` makes it a prepared statement, so a name stands for one text only. */
export type Statement = { name: string; text: string };

/** Runs statements, inside a transaction or each as its own. */
export interface Queryable {
  query<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>;
}

/** One connection beside the pool, whose statements never wait for those of others. Opened again when it breaks. */
export interface ReservedConnection extends Queryable {
  close(): Promise<void>;
}

/** Statements and transactions sent since start; a statement outside a transaction counts as one too. */
export type DatabaseCounters = { statements: number; transactions: number };

/** Rejects with `DatabaseUnavailable` when PostgreSQL does not serve, with PostgreSQL's own error otherwise. */
export class Database implements Queryable {
  readonly counters: DatabaseCounters = { statements: 0, transactions: 0 };

  constructor(
    readonly dataSource: PooledDataSource,
    private readonly meter: StatementMeter = NO_METERS,
  ) {}

  get pool(): Pool {
    return this.dataSource.pool;
  }

  async query<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    this.counters.statements += 1;
    this.counters.transactions += 1;
    return this.#rows(this.pool, statement, values);
  }

  /**
   * Several statements in one round trip and one transaction; returns the rows of the last. Each sees what was committed
   * before it began, which is the use of it: a single statement takes its snapshot before it waits for a lock. They take
   * no parameters, so the caller makes the values in them safe.
   */
  async script<Row extends QueryResultRow>(texts: readonly string[]): Promise<Row[]> {
    this.counters.statements += texts.length;
    this.counters.transactions += 1;
    const results: unknown = await this.pool.query(texts.join(";\n")).catch(rethrow);
    const last: unknown = Array.isArray(results) ? results.at(-1) : results;
    return (last as QueryResult<Row>).rows;
  }

  /** Commits when `work` resolves, rolls back when it rejects. A broken connection does not return to the pool. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN", work);
  }

  /** A read-only transaction: all reads see what was committed when the first of them began. */
  snapshot<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  async #transaction<T>(begin: string, work: (transaction: Queryable) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch(rethrow);
    this.counters.transactions += 1;
    this.counters.statements += 2; // BEGIN and COMMIT
    let broken: Error | undefined;
    try {
      await client.query(begin).catch(rethrow);
      const result = await work(this.#within(client));
      await client.query("COMMIT").catch(rethrow);
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((cause: unknown) => {
        broken = cause instanceof Error ? cause : new Error("rollback failed", { cause });
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * A connection for one statement at a time, listed by PostgreSQL as `applicationName` and never closed for being idle.
   * A statement or a connection attempt that takes longer than `limitMs` is an outage; the connection is then closed.
   */
  reserve(applicationName: string, limitMs: number): ReservedConnection {
    const pool = dedicatedPool(this.pool, { applicationName, limitMs, more: { idleTimeoutMillis: 0 } });
    return {
      query: async <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => {
        this.counters.statements += 1;
        this.counters.transactions += 1;
        return this.#rows<Row>(pool, statement, values, limitMs);
      },
      close: () => pool.end(),
    };
  }

  async #rows<Row extends QueryResultRow>(
    connection: Pool | PoolClient,
    statement: Statement,
    values: unknown[],
    limitMs?: number,
  ): Promise<Row[]> {
    const startedAt = performance.now();
    const since = () => (performance.now() - startedAt) / 1_000;
    try {
      const question =
        limitMs === undefined ? { values, ...statement } : { values, query_timeout: limitMs, ...statement };
      const { rows } = await connection.query<Row>(question);
      this.meter.statement(statement.name, "ok", since());
      return rows;
    } catch (error) {
      this.meter.statement(statement.name, "error", since());
      throw asOutage(error);
    }
  }

  #within(client: PoolClient): Queryable {
    return {
      query: async <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => {
        this.counters.statements += 1;
        return this.#rows<Row>(client, statement, values);
      },
    };
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
    else if (!this.pool.ended) await this.pool.end();
  }
}

function rethrow(error: unknown): never {
  throw asOutage(error);
}
