/**
 * Session of one viewer on a WebSocket or an event stream: its identity, its running subscriptions, and the revalidation
 * of its authorization. It ends when the token expires or is revoked; a subscription whose own permission is lost ends
 * alone.
 */
import { GraphQLError } from "graphql";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { ByteReservation } from "../../resolvers/common/response-budget.js";
import type { SocketCount } from "./operation-slots.js";
import { OutputQueue, type OutputQueueDependencies } from "./output-queue.js";
import type { ResponseStream } from "./response-stream.js";
import type { AuthorizationRevalidator } from "./authorization-revalidator.js";
import type { FindViewer } from "../auth/viewer.js";

/** A revoked token or permission ends open sockets and streams within this time. */
export const REAUTHENTICATE_MS = 60_000;
/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2_147_483_647;

export type Session = {
  readonly count: SocketCount;
  /** Output of its streams. */
  readonly output: OutputQueue;
  /** Streams that have not ended; the session ends them when it closes, whatever the protocol's library does. */
  readonly streams: Set<ResponseStream>;
  /** Cancel the session's timers and registrations. */
  readonly cancels: (() => void)[];
  /** The client's address, as rate limits count it. */
  readonly address: string;
  /** Null until the client has presented a valid token. */
  viewer: Viewer | null;
  isClosed: boolean;
};

/** `reservation`: counts what is read for the response to its user; absent where that is bounded by other means. */
export type CreateContext = (
  viewer: Viewer,
  request: { requestId: string; reservation?: ByteReservation },
) => { viewer: Viewer };

export type AuthorizationOptions = {
  findViewer: FindViewer;
  createContext: CreateContext;
  createRequestId: () => string;
  /** Revalidates all sessions when permissions have changed. */
  revalidator: AuthorizationRevalidator;
  log: Log;
  clock: Clock;
};

/** `connection`: the output side of the session's connection. */
export function newSession(
  viewer: Viewer | null,
  address: string,
  connection: Omit<OutputQueueDependencies, "owner">,
): Session {
  const owner = () => ownerOf(session);
  const output = new OutputQueue({ ...connection, owner });
  const session: Session = {
    ...{ count: { operations: 0 }, output, streams: new Set<ResponseStream>(), cancels: [] },
    ...{ address, viewer, isClosed: false },
  };
  return session;
}

/** The owner that bytes are counted to. */
export function ownerOf({ viewer, address }: Pick<Session, "viewer" | "address">): string {
  return viewer ? viewer.userId : `address ${address}`;
}

/** Calls `onLost` when the token is no longer valid; ends single streams whose permission was lost. */
export function watchAuthorization(
  session: Session,
  token: string,
  options: AuthorizationOptions & { onLost(): void },
): void {
  watchExpiry(session, options);
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    await revalidate(session, token, options);
    isChecking = false;
  };
  session.cancels.push(
    options.clock.every(REAUTHENTICATE_MS, () => void check()),
    // Not skipped during a regular check, which may have read before the change.
    options.revalidator.add(token, () => revalidate(session, token, options)),
  );
}

function watchExpiry(session: Session, { clock, onLost }: { clock: Clock; onLost(): void }): void {
  const { cancels } = session;
  const index = cancels.push(() => undefined) - 1;
  const wait = () => {
    const expiresAt = session.viewer?.expiresAt ?? null;
    if (expiresAt === null || session.isClosed) return;
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) return onLost();
    cancels[index] = clock.after(Math.min(leftMs, MAX_TIMER_MS), wait);
  };
  wait();
}

/** Never rejects: when the lookup fails the session stays open, and the next check repeats it. */
async function revalidate(
  session: Session,
  token: string,
  options: AuthorizationOptions & { onLost(): void },
): Promise<void> {
  try {
    const viewer = await options.findViewer(token);
    if (session.isClosed) return;
    if (!viewer) return options.onLost();
    session.viewer = viewer;
    if (session.streams.size === 0) return;
    // One context for all streams, so that their lookups are batched.
    const context = options.createContext(viewer, { requestId: options.createRequestId() });
    await Promise.all([...session.streams].map((stream) => checkStream(stream, context)));
  } catch (failure) {
    options.log.warn({ err: failure }, "revalidating the authorization of an open socket or stream failed");
  }
}

async function checkStream(stream: ResponseStream, context: object): Promise<void> {
  if (await stream.mayContinue(context)) return;
  const message = "You no longer have permission to read this subscription.";
  await stream.refuse(new GraphQLError(message, { extensions: { code: "FORBIDDEN" } }));
}

/** Ends the session with its timers and streams. Never rejects; failures are logged. */
export async function closeSession(session: Session, log: Log): Promise<void> {
  session.isClosed = true;
  for (const cancel of session.cancels.splice(0)) cancel();
  await endStreams(session, log);
}

/** Ends the session's streams. Never rejects; failures are logged. */
export async function endStreams(session: Session, log: Log): Promise<void> {
  const ends = [...session.streams].map((stream) => stream.return());
  for (const end of await Promise.allSettled(ends)) {
    if (end.status === "rejected") log.error({ err: end.reason }, "ending a subscription failed");
  }
}
