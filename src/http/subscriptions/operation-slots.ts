/** Limits on concurrent operations per socket and per user, over WebSockets and event streams. */
import type { GraphQLError } from "graphql";
import type { HttpLimits } from "../graphql/limits.js";
import { rateLimited } from "../graphql/refusals.js";

/** Permission to run one operation. `free` returns it; a second call has no effect. */
export type OperationSlot = { free(): void };

/** Operations running on one socket. */
export type SocketCount = { operations: number };

export type OperationSlots = {
  /** Takes a slot for an operation of this user on this socket, or returns the reason why none is free. */
  take(socket: SocketCount, userId: string): OperationSlot | GraphQLError;
  /** Slots in use. */
  count(): number;
};

/** Creates the slots of one server. Users without operations take no memory. */
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
          `At most ${limits.maxOperationsPerSocket} operations may run on one socket at the same time.`,
        );
      }
      if (ofUser >= limits.maxOperationsPerUser) {
        return rateLimited(
          `At most ${limits.maxOperationsPerUser} operations of one user may run at the same time.`,
        );
      }
      total += 1;
      socket.operations += 1;
      byUser.set(userId, ofUser + 1);
      let isTaken = true;
      return {
        free() {
          if (!isTaken) return;
          isTaken = false;
          release(socket, userId);
        },
      };
    },
    count: () => total,
  };
}
