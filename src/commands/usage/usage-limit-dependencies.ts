/** Dependencies of the usage limit commands. */
import type { LimitStatus } from "../../domain/usage/usage-limits.js";
import type { Database } from "../../store/common/database.js";

export type UsageLimitDependencies = {
  database: Database;
  /** Notifies every replica that limits have changed. After the commit; never throws. */
  announceLimits(): void;
  /** The user's spend against their limit, now. */
  status(userId: string): Promise<LimitStatus>;
};
