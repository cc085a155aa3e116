// The package brings no types of its own.
declare module "http_ece" {
  import type { ECDH } from "node:crypto";
  /** Opens a message of RFC 8188; `dh` is in base64url, or null when the message has it. */
  export function decrypt(
    message: Buffer,
    options: { version: "aes128gcm"; privateKey: ECDH; authSecret: string },
  ): Buffer;
}
