/** TypeORM's data source over a connection pool that is ours: hand-written statements and entities share its connections. */
import pg from "pg";
import { DataSource, type DataSourceOptions } from "typeorm";

type PostgresOptions = Extract<DataSourceOptions, { type: "postgres" }>;

export class PooledDataSource extends DataSource {
  /** TypeORM makes its pool with the driver's `Pool`; the driver it is given makes this one. `destroy` ends the pool. */
  constructor(
    readonly pool: pg.Pool,
    options: Omit<PostgresOptions, "type" | "driver">,
  ) {
    const Pool = function () {
      return pool;
    };
    super({ ...options, type: "postgres", driver: { Pool, defaults: pg.defaults } });
  }
}
