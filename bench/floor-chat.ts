/** A chat with the floor program: one socket, on which a message goes out and deltas come back. */
import { WebSocket } from "ws";
import { checked, textOf, TURN_LIMIT_MS, TurnWatch, type BenchChat, type Message } from "./chat.js";
import type { FloorFrame } from "./floor.js";
import { nowMicros } from "./machine.js";
import { within } from "./programs.js";

/** Starts a chat and waits out its first turn. */
export async function openFloorChat(url: string, first: Message): Promise<BenchChat> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const watch = new TurnWatch();
  socket.on("message", (text) => {
    const arrived = nowMicros();
    const frame = JSON.parse((text as Buffer).toString("utf8")) as FloorFrame;
    watch.frame(arrived, "append" in frame ? frame.append : null);
    if ("end" in frame) watch.end();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const chat: BenchChat = {
    async say(message) {
      const turn = watch.begin();
      socket.send(textOf(message));
      return checked(await within(TURN_LIMIT_MS, "The floor's turn did not end", turn), message);
    },
    close: () => {
      socket.close();
      return Promise.resolve();
    },
  };
  await chat.say(first);
  return chat;
}
