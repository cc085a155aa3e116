// Extends the moment between the end of a response and its commit: the chat's row is locked, the user's change waits
// for it, then the model finishes and its commit waits behind. The lock is granted in this order.
import { decodeId } from "../../../../src/domain/common/ids.js";
import { eventually } from "../../../support/eventually.js";
import { within } from "./within.js";
import type { Cell } from "./words.js";

export async function actBeforeCommit(cell: Cell, act: () => Promise<unknown>): Promise<void> {
  const { dataSource } = cell.scene.environment.database;
  const goOn = await cell.staged.reached(cell.phase.calls);
  const lock = dataSource.createQueryRunner();
  try {
    await lock.startTransaction();
    const [{ pid }] = (await lock.query("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    await lock.query("SELECT id FROM chats WHERE id = $1 FOR UPDATE", [decodeId("chat", cell.chatId)]);
    const acting = act();
    await untilWaiting(cell, pid, 1);
    goOn("go-on");
    await untilWaiting(cell, pid, 2);
    await lock.commitTransaction();
    await within(acting, () => "the change that waited for the row");
  } finally {
    await lock.release();
  }
}

/** Resolves when `count` statements wait for locks of that connection, directly or behind each other. */
async function untilWaiting(cell: Cell, holder: number, count: number): Promise<void> {
  const { dataSource } = cell.scene.environment.database;
  await eventually(async () => {
    const [row] = await dataSource.query<{ waiting: number }[]>(
      `WITH RECURSIVE behind (pid) AS (
          SELECT pid FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))
          UNION SELECT a.pid FROM pg_stat_activity a JOIN behind b ON b.pid = ANY (pg_blocking_pids(a.pid)))
        SELECT count(*)::int AS waiting FROM behind`,
      [holder],
    );
    if (!row || row.waiting < count)
      throw new Error(`There were never ${count} statements that wait for the row.`);
  });
}
