/**
 * One viewer at a door that stays open, a socket or an event stream: who it is, what runs for it, and how long its
 * rights last. They end when the token expires or is revoked; a stream whose own right is lost ends alone.
 */
import { GraphQLError } from "graphql";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { UserRoom } from "../../resolvers/common/answer-budget.js";
import type { SocketCount } from "./operation-slots.js";
import { Outlet, type OutletParts } from "./outlet.js";
import type { ResponseStream } from "./response-stream.js";
import type { RightsRounds } from "./authorization-revalidator.js";
import type { FindViewer } from "../auth/viewer.js";

/** A revoked token loses its open sockets and streams within this time, and so does a lost right. */
export const REAUTHENTICATE_MS = 60_000;
/** Longest wait of a Node timer. */
const MAX_TIMER_MS = 2_147_483_647;

export type Session = {
  readonly count: SocketCount;
  /** Where its streams' answers go. */
  readonly outlet: Outlet;
  /** Streams that have not ended; ended when the session closes, whatever the protocol's library knows of them. */
  readonly streams: Set<ResponseStream>;
  /** Cancel the timers that watch over the session. */
  readonly cancels: (() => void)[];
  /** Where it comes from, as limits know it. */
  readonly address: string;
  /** Null until the client has shown a good token. */
  viewer: Viewer | null;
  isClosed: boolean;
};

/** `room`: where what is read for the answer is counted to its user; absent where that is bounded by other means. */
export type CreateContext = (
  viewer: Viewer,
  request: { requestId: string; room?: UserRoom },
) => { viewer: Viewer };

export type WatchOptions = {
  findViewer: FindViewer;
  createContext: CreateContext;
  createRequestId: () => string;
  /** When rights have changed, all sessions are looked at. */
  rounds: RightsRounds;
  log: Log;
  clock: Clock;
};

/** `wayOut`: what is known of the connection that the answers leave by. */
export function newSession(
  viewer: Viewer | null,
  address: string,
  wayOut: Omit<OutletParts, "owner">,
): Session {
  const owner = () => ownerOf(session);
  const outlet = new Outlet({ ...wayOut, owner });
  const session: Session = {
    ...{ count: { operations: 0 }, outlet, streams: new Set<ResponseStream>(), cancels: [] },
    ...{ address, viewer, isClosed: false },
  };
  return session;
}

/** Whom bytes count to. */
export function ownerOf({ viewer, address }: Pick<Session, "viewer" | "address">): string {
  return viewer ? viewer.userId : `address ${address}`;
}

/** Calls `onLost` when the token is no longer good; ends single streams that may no longer be read. */
export function watchRights(
  session: Session,
  token: string,
  options: WatchOptions & { onLost(): void },
): void {
  watchExpiry(session, options);
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    await checkRights(session, token, options);
    isChecking = false;
  };
  session.cancels.push(
    options.clock.every(REAUTHENTICATE_MS, () => void check()),
    // A regular check that is under way may have asked before the change.
    options.rounds.add(token, () => checkRights(session, token, options)),
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

/** Never rejects: not knowing is no reason to throw a viewer out; the next round asks again. */
async function checkRights(
  session: Session,
  token: string,
  options: WatchOptions & { onLost(): void },
): Promise<void> {
  try {
    const viewer = await options.findViewer(token);
    if (session.isClosed) return;
    if (!viewer) return options.onLost();
    session.viewer = viewer;
    if (session.streams.size === 0) return;
    // One context for all streams, so that what they ask is asked in one statement.
    const context = options.createContext(viewer, { requestId: options.createRequestId() });
    await Promise.all([...session.streams].map((stream) => checkStream(stream, context)));
  } catch (failure) {
    options.log.warn({ err: failure }, "The rights of an open socket or stream could not be looked up");
  }
}

async function checkStream(stream: ResponseStream, context: object): Promise<void> {
  if (await stream.mayContinue(context)) return;
  const message = "What is subscribed to may no longer be read.";
  await stream.refuse(new GraphQLError(message, { extensions: { code: "FORBIDDEN" } }));
}

/** Ends the session: its timers, and what still streams. Never rejects; failures are logged. */
export async function closeSession(session: Session, log: Log): Promise<void> {
  session.isClosed = true;
  for (const cancel of session.cancels.splice(0)) cancel();
  await endStreams(session, log);
}

/** Ends what still streams. Never rejects; failures are logged. */
export async function endStreams(session: Session, log: Log): Promise<void> {
  const ends = [...session.streams].map((stream) => stream.return());
  for (const end of await Promise.allSettled(ends)) {
    if (end.status === "rejected") log.error({ err: end.reason }, "A subscription could not be ended");
  }
}
