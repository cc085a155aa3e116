/** How a command shows for which chat it runs: a key that only this agent can make, one for each chat. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** As long as the digest that it makes. */
const SECRET_BYTES = 32;

export class ChatKeys {
  /** Forgotten with the agent; nothing has to be kept for each command. */
  readonly #secret = randomBytes(SECRET_BYTES);

  keyFor(chatId: string): string {
    return `${this.#digest(chatId).toString("base64url")}.${chatId}`;
  }

  /** Null when the key was not made here. Takes as long for a wrong key as for a right one. */
  chatOf(key: string): string | null {
    const [digest = "", ...rest] = key.split(".");
    const chatId = rest.join(".");
    const shown = Buffer.from(digest, "base64url");
    const expected = this.#digest(chatId);
    return shown.length === expected.length && timingSafeEqual(shown, expected) ? chatId : null;
  }

  #digest(chatId: string): Buffer {
    return createHmac("sha256", this.#secret).update(chatId).digest();
  }
}
