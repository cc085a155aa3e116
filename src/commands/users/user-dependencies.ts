/** Dependencies of the user commands. */
import type { Log } from "../../lib/log.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";

export type UserDependencies = TransitionDependencies & {
  log: Log;
  /** Notifies every replica that a user's rights have changed. After the commit; never throws. */
  announceUsers(): void;
};
