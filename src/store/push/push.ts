/** Web push subscriptions of users' browsers, and the key pair that signs the notifications. */
import { randomUUID } from "node:crypto";
import type { PushSubscriptionFields } from "../../domain/push/push.js";
import { MAX_PUSH_SUBSCRIPTIONS } from "../../domain/push/push.js";
import type { Queryable, Statement } from "../common/database.js";
import { selectionOf } from "../common/entity-columns.js";
import { PushSubscriptionEntity } from "./push-subscription.entity.js";
import type { OpenedSecret, SecretBox } from "../common/secret-box.js";
import { columnReference } from "../common/secret-columns.js";

const subscription = selectionOf(PushSubscriptionEntity, "", [
  ...(["id", "userId", "endpoint", "userAgent", "createdAt"] as const),
]);
const FIELDS = subscription.columns;

/** A subscription without its secret. */
export type PushSubscriptionRecord = ReturnType<(typeof subscription)["read"]>;

/** `auth` is still sealed. */
export type PushTarget = Pick<PushSubscriptionEntity, "id" | "endpoint" | "p256dh" | "auth">;

// A secret is sealed for its row, so a repeated registration gets a new row id. Index: push_subscriptions_endpoint_key,
// push_subscriptions_user_idx.
const REGISTER: Statement = {
  name: "push.register",
  text: `WITH oldest AS (
      SELECT id FROM push_subscriptions WHERE user_id = $2 AND endpoint <> $3
      ORDER BY created_at DESC, id OFFSET $7),
    gone AS (DELETE FROM push_subscriptions p USING oldest WHERE p.id = oldest.id)
    INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, user_agent) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (endpoint) DO UPDATE SET id = excluded.id, user_id = excluded.user_id, p256dh = excluded.p256dh,
      auth = excluded.auth, user_agent = excluded.user_agent, created_at = now()
    RETURNING ${FIELDS}`,
};

/**
 * Registers a browser for the user who signed in there last: the endpoint is taken over from another user. The user's
 * oldest subscriptions beyond `MAX_PUSH_SUBSCRIPTIONS` are deleted.
 */
export async function registerPushSubscription(
  db: Queryable,
  box: SecretBox,
  input: PushSubscriptionFields & { userId: string; userAgent: string | null },
): Promise<PushSubscriptionRecord> {
  const id = randomUUID();
  const { userId, endpoint, p256dh, auth, userAgent } = input;
  const sealed = box.seal(auth, columnReference("push_subscriptions", "auth", id));
  const values = [id, userId, endpoint, p256dh, sealed, userAgent, MAX_PUSH_SUBSCRIPTIONS - 1];
  const [made] = await db.query<PushSubscriptionRecord>(REGISTER, values);
  if (made === undefined) throw new Error("A push subscription was not written.");
  return made;
}

const UNREGISTER: Statement = {
  name: "push.unregister",
  text: "DELETE FROM push_subscriptions WHERE user_id = $1 AND endpoint = $2 RETURNING id",
};

/** Returns its id; null when the user has no such subscription. */
export async function unregisterPushSubscription(
  db: Queryable,
  userId: string,
  endpoint: string,
): Promise<string | null> {
  const [deleted] = await db.query<{ id: string }>(UNREGISTER, [userId, endpoint]);
  return deleted?.id ?? null;
}

const DELETE: Statement = { name: "push.delete", text: "DELETE FROM push_subscriptions WHERE id = $1" };

/** A subscription that was registered again meanwhile has another id, and stays. */
export async function deletePushSubscription(db: Queryable, id: string): Promise<void> {
  await db.query(DELETE, [id]);
}

const LIST: Statement = {
  name: "push.list",
  text: `SELECT ${FIELDS} FROM push_subscriptions WHERE user_id = $1 ORDER BY created_at, id`,
};

/** Oldest first; at most `MAX_PUSH_SUBSCRIPTIONS`. */
export async function listPushSubscriptions(
  db: Queryable,
  userId: string,
): Promise<PushSubscriptionRecord[]> {
  return db.query<PushSubscriptionRecord>(LIST, [userId]);
}

const FIND: Statement = {
  name: "push.find",
  text: `SELECT ${FIELDS} FROM push_subscriptions WHERE id = $1 AND user_id = $2`,
};

/** Null when the user has no such subscription. */
export async function findPushSubscription(
  db: Queryable,
  userId: string,
  id: string,
): Promise<PushSubscriptionRecord | null> {
  const [found] = await db.query<PushSubscriptionRecord>(FIND, [id, userId]);
  return found ?? null;
}

const TARGETS: Statement = {
  name: "push.targets",
  text: "SELECT id, endpoint, p256dh, auth FROM push_subscriptions WHERE user_id = $1 ORDER BY created_at, id",
};

/** The endpoints of a user's notifications. */
export async function listPushTargets(db: Queryable, userId: string): Promise<PushTarget[]> {
  return db.query<PushTarget>(TARGETS, [userId]);
}

export function openPushSecret(box: SecretBox, { id, auth }: PushTarget): OpenedSecret {
  return box.open(auth, columnReference("push_subscriptions", "auth", id));
}

export type PushKeys = { publicKey: string; privateKey: string };

const ADD_KEYS: Statement = {
  name: "push.add-keys",
  text: "INSERT INTO push_keys (id, public_key, private_key) VALUES ($1, $2, $3) ON CONFLICT (is_only) DO NOTHING",
};
const GET_KEYS: Statement = {
  name: "push.get-keys",
  text: `SELECT id, public_key AS "publicKey", private_key AS "privateKey" FROM push_keys`,
};

/** The deployment's key pair, generated when there is none yet. Null when the secret box cannot open the stored one. */
export async function havePushKeys(
  db: Queryable,
  box: SecretBox,
  generate: () => PushKeys,
): Promise<PushKeys | null> {
  type Row = PushKeys & { id: string };
  let [row] = await db.query<Row>(GET_KEYS, []);
  if (row === undefined) {
    const id = randomUUID();
    const { publicKey, privateKey } = generate();
    await db.query(ADD_KEYS, [id, publicKey, box.seal(privateKey, keyReference(id))]);
    [row] = await db.query<Row>(GET_KEYS, []);
  }
  if (row === undefined) throw new Error("The key pair for push messages is missing after it was written.");
  const opened = box.open(row.privateKey, keyReference(row.id));
  return opened.kind === "opened" ? { publicKey: row.publicKey, privateKey: opened.text } : null;
}

const keyReference = (id: string) => columnReference("push_keys", "private_key", id);
