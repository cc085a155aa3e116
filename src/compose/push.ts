/** Composition of push notifications: the deployment's key pair, subscriptions and the notifier. */
import type { Config } from "../config/config.js";
import { Notifier } from "../services/push/notifier.js";
import { PushTargets } from "../services/push/push-targets.js";
import type { Bus } from "../events/bus/bus.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";
import { generatePushKeys, PushSender } from "../adapters/web-push.js";
import type { Database } from "../store/common/database.js";
import {
  deletePushSubscription,
  havePushKeys,
  listPushTargets,
  openPushSecret,
  type PushKeys,
} from "../store/push/push.js";
import type { SecretBox } from "../store/common/secret-box.js";
import type { Closers } from "./closers.js";

/** RFC 8292 requires a contact; an internal deployment has no useful one. */
const NO_CONTACT = "mailto:parley@localhost";

export type PushDependencies = {
  config: Config;
  database: Database;
  secrets: SecretBox;
  bus: Bus;
  outbound: OutboundFetch;
  clock: Clock;
  log: Log;
};

export type Push = {
  notifier: Notifier;
  /** Null when the key pair cannot be decrypted. */
  publicKey(): Promise<string | null>;
};

export function openPush(dependencies: PushDependencies, closers: Closers): Push {
  const { config, database, secrets, bus, outbound, clock, log } = dependencies;
  const keys = keyPair(dependencies);
  const isPrivateAllowed = config.isPushPrivateAllowed;
  const sender = new PushSender({ outbound, isPrivateAllowed, now: () => clock.now() });
  const contact = config.pushContact ?? httpsOrNone(config.publicUrl) ?? NO_CONTACT;
  const targets = new PushTargets({ clock, list: (userId) => listPushTargets(database, userId) });
  const stopListening = bus.onConfigChange((topic) => {
    if (topic === "push") targets.forget();
  });
  const notifier = new Notifier({
    ...{ bus, clock, log, targets },
    async deliver(target, message) {
      const pair = await keys();
      const opened = openPushSecret(secrets, target);
      if (pair === null || opened.kind !== "opened")
        return { kind: "refused", reason: "Its secret, or our own key, cannot be decrypted." };
      return sender.send({ ...target, auth: opened.text }, message, { keys: pair, contact });
    },
    async remove({ id }) {
      await deletePushSubscription(database, id);
      bus.publishConfigChange("push");
    },
  });
  closers.add("the notifications", async () => {
    stopListening();
    await notifier.close();
  });
  return { notifier, publicKey: async () => (await keys())?.publicKey ?? null };
}

/** Cached, as it never changes; the next call retries after a failure. */
function keyPair({ database, secrets, log }: PushDependencies): () => Promise<PushKeys | null> {
  let cached: Promise<PushKeys | null> | null = null;
  const read = async () => {
    const pair = await havePushKeys(database, secrets, generatePushKeys);
    if (pair === null)
      log.error("the key pair for push messages cannot be decrypted with PARLEY_SECRETS_KEYS");
    return pair;
  };
  return () => {
    cached ??= read().catch((error: unknown) => {
      cached = null;
      throw error;
    });
    return cached;
  };
}

function httpsOrNone(url: string | undefined): string | undefined {
  return url?.startsWith("https:") ? url : undefined;
}
