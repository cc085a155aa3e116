// Web push service on loopback: verifies the sender's signature (RFC 8292), decrypts messages as the browser would, and
// responds as the test wants.
import { type ECDH } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type * as HttpEce from "http_ece";
import { importJWK, jwtVerify } from "jose";
import { browserKeys } from "../clients/browser-subscription.js";

// Its code is CommonJS.
const { decrypt } = createRequire(import.meta.url)("http_ece") as typeof HttpEce;

export type Delivered = {
  /** Which browser. */
  path: string;
  message: Record<string, unknown>;
  ttl: string | undefined;
  urgency: string | undefined;
  topic: string | undefined;
  /** Of the sender's signature. */
  claims: Record<string, unknown>;
  /** The key that the signature was checked with, in base64url. */
  senderKey: string;
};
type Answer = { status: number; headers?: Record<string, string> };

export async function startPushService() {
  const browsers = new Map<string, { ecdh: ECDH; auth: string }>();
  const answers = new Map<string, Answer[]>();
  const delivered: Delivered[] = [];
  const watchers = new Set<() => void>();
  let asked = 0;
  const server = createServer((request, response) => {
    void readAll(request).then(async (body) => {
      const path = request.url ?? "";
      asked += 1;
      const answer = answers.get(path)?.shift() ?? (await accept(request, path, body));
      response.writeHead(answer.status, answer.headers).end();
      for (const watcher of watchers) watcher();
    });
  });

  async function accept({ headers }: IncomingMessage, path: string, body: Buffer): Promise<Answer> {
    const browser = browsers.get(path);
    if (!browser) return { status: 404 };
    try {
      const { claims, senderKey } = await checkSignature(headers.authorization ?? "", url());
      const options = { version: "aes128gcm", privateKey: browser.ecdh, authSecret: browser.auth } as const;
      const message = JSON.parse(decrypt(body, options).toString("utf8")) as Record<string, unknown>;
      const { ttl, urgency, topic } = headers as Record<string, string | undefined>;
      delivered.push({ path, message, ttl, urgency, topic, claims, senderKey });
      return { status: 201 };
    } catch {
      return { status: 403 };
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    delivered,
    /** Requests so far, refused ones too. */
    get asked() {
      return asked;
    },
    /** Subscribes a browser; returns the input of `registerPushSubscription`. */
    subscribe(name: string) {
      const { ecdh, p256dh, auth } = browserKeys();
      browsers.set(`/${name}`, { ecdh, auth });
      return { endpoint: `${url()}/${name}`, p256dh, auth };
    },
    /** Statuses of the next requests for this browser, which are not delivered. */
    answer(name: string, ...next: Answer[]): void {
      answers.set(`/${name}`, next);
    },
    /** Resolves when the condition holds. */
    until(isSo: () => boolean): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (!isSo()) return;
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
        check();
      });
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function checkSignature(authorization: string, audience: string) {
  const [, token = "", senderKey = ""] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? [];
  const point = Buffer.from(senderKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((it) => it.toString("base64url"));
  const key = await importJWK({ kty: "EC", crv: "P-256", x, y }, "ES256");
  const { payload } = await jwtVerify(token, key, { audience, algorithms: ["ES256"] });
  return { claims: payload, senderKey };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
