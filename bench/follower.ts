/**
 * A subscriber that costs the bench as little as can be: graphql-ws's protocol by hand on a socket of its own. It
 * counts frames, reads when the deltas in them were sent, and sees the end of a turn.
 */
import { WebSocket } from "ws";
import { nowMicros } from "./machine.js";
import { EVENTS, type ParleyAddress } from "./parley-chat.js";
import { readStamps } from "./stamps.js";

const APPENDED = /"append":"([^"]*)"/;
const RESTS = '"status":"WAITING"';
const FELL_BEHIND = '"reason":"FELL_BEHIND"';

/** One turn as a follower saw it; times in microseconds of the shared clock. */
export type Followed = {
  frames: number;
  deltaFrames: number;
  /** From each delta's sending to its arrival. */
  delaysMicros: number[];
  lastSentMicros: number;
  restedMicros: number;
};

export class Follower {
  /** Events of this kind since the start. */
  fellBehind = 0;
  #turn = newTurn();
  #rested: (() => void) | null = null;
  #isCaughtUp: (() => void) | null = null;

  private constructor(private readonly socket: WebSocket) {}

  /** Resolves when the server has sent the chat's current state. */
  static async open({ url, token }: ParleyAddress, chatId: string): Promise<Follower> {
    const address = `${url.replace("http", "ws")}/graphql`;
    const socket = new WebSocket(address, "graphql-transport-ws", { perMessageDeflate: false });
    const follower = new Follower(socket);
    await new Promise<void>((resolve, reject) => {
      follower.#isCaughtUp = resolve;
      socket.once("error", reject);
      socket.once("close", (code) => reject(new Error(`A follower was closed with ${code}`)));
      socket.once("open", () => {
        socket.send(JSON.stringify({ type: "connection_init", payload: { token } }));
      });
      socket.once("message", () => {
        const payload = { query: EVENTS, variables: { chatId } };
        socket.send(JSON.stringify({ id: "1", type: "subscribe", payload }));
        socket.on("message", (frame) => follower.#take((frame as Buffer).toString("utf8")));
      });
    });
    return follower;
  }

  /** Resolves when the turn is over. Call it before the turn begins. */
  async followTurn(): Promise<Followed> {
    this.#turn = newTurn();
    await new Promise<void>((resolve) => (this.#rested = resolve));
    return this.#turn;
  }

  /** Resolves at the next caught-up event. */
  async untilCaughtUp(): Promise<void> {
    await new Promise<void>((resolve) => (this.#isCaughtUp = resolve));
  }

  /** Reads nothing more until `resume`. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  async close(): Promise<void> {
    const gone = new Promise<void>((resolve) => this.socket.once("close", () => resolve()));
    this.socket.close();
    await gone;
  }

  #take(frame: string): void {
    const turn = this.#turn;
    turn.frames += 1;
    const appended = APPENDED.exec(frame)?.[1];
    if (appended !== undefined) return this.#takeDeltas(nowMicros(), appended);
    if (frame.includes(RESTS)) {
      turn.restedMicros = nowMicros();
      this.#rested?.();
    }
    if (frame.includes("ChatCaughtUpEvent")) this.#isCaughtUp?.();
    if (frame.includes(FELL_BEHIND)) this.fellBehind += 1;
    if (frame.includes('"errors"')) throw new Error(`A follower got an error: ${frame}`);
  }

  #takeDeltas(arrivedMicros: number, appended: string): void {
    const turn = this.#turn;
    turn.deltaFrames += 1;
    for (const sentMicros of readStamps(appended)) {
      turn.delaysMicros.push(arrivedMicros - sentMicros);
      turn.lastSentMicros = sentMicros;
    }
  }
}

function newTurn(): Followed {
  return { frames: 0, deltaFrames: 0, delaysMicros: [], lastSentMicros: 0, restedMicros: 0 };
}
