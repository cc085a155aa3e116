/** Keys that prove for which chat a command runs: one for each chat, signed by this agent (HMAC-SHA-256). */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** The length of the digest. */
const SECRET_BYTES = 32;

export class ChatKeys {
  /** Lives as long as the agent; no state is needed for each command. */
  readonly #secret = randomBytes(SECRET_BYTES);

  keyFor(chatId: string): string {
    return `${this.#digest(chatId).toString("base64url")}.${chatId}`;
  }

  /** Null when the key was not issued here. The comparison takes constant time. */
  chatOf(key: string): string | null {
    const [digest = "", ...rest] = key.split(".");
    const chatId = rest.join(".");
    const received = Buffer.from(digest, "base64url");
    const expected = this.#digest(chatId);
    return received.length === expected.length && timingSafeEqual(received, expected) ? chatId : null;
  }

  #digest(chatId: string): Buffer {
    return createHmac("sha256", this.#secret).update(chatId).digest();
  }
}
