/** Counts the operations that run on sockets and event streams, so that neither a socket nor a user can run too many at one time. */
import type { GraphQLError } from "graphql";
import type { HttpLimits } from "../graphql/limits.js";
import { rateLimited } from "../graphql/refusals.js";

/** The right to run one operation. `free` gives it back; a second call does nothing. */
export type OperationSlot = { free(): void };

/** What is counted for one socket. */
export type SocketCount = { operations: number };

export type OperationSlots = {
  /** Takes a slot for an operation of this user on this socket, or says why there is none. */
  take(socket: SocketCount, userId: string): OperationSlot | GraphQLError;
  /** Operations that hold a slot now. */
  count(): number;
};

/** Slots of one server. Users without operations take no memory. */
export function createOperationSlots(
  limits: Pick<HttpLimits, "maxOperationsPerSocket" | "maxOperationsPerUser">,
): OperationSlots {
  const byUser = new Map<string, number>();
  let total = 0;

  const release = (socket: SocketCount, userId: string) => {
    total -= 1;
    socket.operations -= 1;
    const left = (byUser.get(userId) ?? 1) - 1;
    if (left > 0) byUser.set(userId, left);
    else byUser.delete(userId);
  };
  return {
    take(socket, userId) {
      const ofUser = byUser.get(userId) ?? 0;
      if (socket.operations >= limits.maxOperationsPerSocket) {
        return rateLimited(
          `At most ${limits.maxOperationsPerSocket} operations may run on one socket at one time.`,
        );
      }
      if (ofUser >= limits.maxOperationsPerUser) {
        return rateLimited(
          `At most ${limits.maxOperationsPerUser} operations of one user may run at one time.`,
        );
      }
      total += 1;
      socket.operations += 1;
      byUser.set(userId, ofUser + 1);
      let isHeld = true;
      return {
        free() {
          if (!isHeld) return;
          isHeld = false;
          release(socket, userId);
        },
      };
    },
    count: () => total,
  };
}
