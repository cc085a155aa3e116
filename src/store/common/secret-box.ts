/**
 * Secrets at rest. Each value is encrypted with a key of its own, which is encrypted with one of the deployment's keys:
 * so a deployment's key can be replaced without touching the values. All of it is AES-256-GCM by Node's own library,
 * bound to its row and column: copied elsewhere it cannot be opened.
 *
 * The form is `v1.<key id>.<wrapped key>.<value>`, the last two base64url of nonce, ciphertext and tag.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from "node:crypto";

const ALGORITHM = "aes-256-gcm";
export const SECRET_KEY_BYTES = 32;
/** GCM's native size; random nonces are safe for billions of values under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1";
const FORM = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
/** Finds the key's id in a sealed value, for PostgreSQL. */
export const SEALED_KEY_ID = "^v1\\.([A-Za-z0-9_-]{1,32})\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$";

/** One of the deployment's keys. The id is no secret: it stands before every value that the key has wrapped. */
export type SecretKey = { id: string; bytes: Uint8Array };

/** The column and row of a sealed value. */
export type ColumnReference = { table: string; column: string; rowId: string };

/** `unknown-key`: this process was not given the key. `broken`: it was changed, or it was sealed for another column or row. */
export type SecretFailure = { kind: "unknown-key"; keyId: string } | { kind: "broken" };
export type OpenedSecret = { kind: "opened"; text: string } | SecretFailure;
export type RewrappedSecret = { kind: "rewrapped"; sealed: string } | { kind: "current" } | SecretFailure;

export class SecretBox {
  readonly #writing: { id: string; key: KeyObject };
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** The first key seals; all of them open. Throws when there is none or one has another length. */
  constructor(keys: readonly SecretKey[]) {
    const [first] = keys;
    if (first === undefined) throw new Error("A secret box needs a key.");
    this.#keys = new Map(keys.map(({ id, bytes }) => [id, keyOf(bytes)]));
    this.#writing = { id: first.id, key: keyOf(first.bytes) };
  }

  /** The first one seals. */
  get keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  seal(text: string, reference: ColumnReference): string {
    const valueKey = randomBytes(SECRET_KEY_BYTES);
    const value = encrypt(keyOf(valueKey), Buffer.from(text, "utf8"), valueLabel(reference));
    return this.#wrap(valueKey, value.toString("base64url"), reference);
  }

  open(sealed: string, reference: ColumnReference): OpenedSecret {
    const unwrapped = this.#unwrap(sealed, reference);
    if ("kind" in unwrapped) return unwrapped;
    const text = decrypt(
      keyOf(unwrapped.valueKey),
      Buffer.from(unwrapped.value, "base64url"),
      valueLabel(reference),
    );
    return text === null ? { kind: "broken" } : { kind: "opened", text: text.toString("utf8") };
  }

  /** The same value under the key that seals now, without decrypting it; `current` when it already is. */
  rewrap(sealed: string, reference: ColumnReference): RewrappedSecret {
    const unwrapped = this.#unwrap(sealed, reference);
    if ("kind" in unwrapped) return unwrapped;
    if (unwrapped.keyId === this.#writing.id) return { kind: "current" };
    return { kind: "rewrapped", sealed: this.#wrap(unwrapped.valueKey, unwrapped.value, reference) };
  }

  /**
   * Keys for something else than secrets at rest, one from each of the deployment's keys, the sealing one's first; all
   * servers derive the same. `purpose` separates uses: one use reveals nothing about another.
   */
  derivedKeys(purpose: string): Uint8Array[] {
    const derive = (key: KeyObject) => new Uint8Array(hkdfSync("sha256", key, "", purpose, SECRET_KEY_BYTES));
    return [...this.#keys.values()].map(derive);
  }

  #wrap(valueKey: Buffer, value: string, reference: ColumnReference): string {
    const { id, key } = this.#writing;
    const wrapped = encrypt(key, valueKey, keyLabel(id, reference));
    return [VERSION, id, wrapped.toString("base64url"), value].join(".");
  }

  #unwrap(
    sealed: string,
    reference: ColumnReference,
  ): SecretFailure | { keyId: string; valueKey: Buffer; value: string } {
    const [, keyId, wrapped, value] = FORM.exec(sealed) ?? [];
    if (keyId === undefined || wrapped === undefined || value === undefined) return { kind: "broken" };
    const key = this.#keys.get(keyId);
    if (key === undefined) return { kind: "unknown-key", keyId };
    const valueKey = decrypt(key, Buffer.from(wrapped, "base64url"), keyLabel(keyId, reference));
    return valueKey === null ? { kind: "broken" } : { keyId, valueKey, value };
  }
}

/** A key that neither logs nor inspections can show. */
function keyOf(bytes: Uint8Array): KeyObject {
  if (bytes.length !== SECRET_KEY_BYTES) throw new Error(`A key has ${SECRET_KEY_BYTES} bytes.`);
  return createSecretKey(bytes);
}

/** JSON, because otherwise two references could have the same text. */
function valueLabel({ table, column, rowId }: ColumnReference): Buffer {
  return Buffer.from(JSON.stringify([VERSION, "value", table, column, rowId]));
}

function keyLabel(keyId: string, { table, column, rowId }: ColumnReference): Buffer {
  return Buffer.from(JSON.stringify([VERSION, "key", keyId, table, column, rowId]));
}

function encrypt(key: KeyObject, plain: Buffer, label: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(label);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null when it is not what was encrypted with this key and label. */
function decrypt(key: KeyObject, sealed: Buffer, label: Buffer): Buffer | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(-TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(label).setAuthTag(tag);
  const beginning = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([beginning, decipher.final()]);
  } catch {
    // The only way in which Node reports a wrong tag.
    return null;
  }
}
