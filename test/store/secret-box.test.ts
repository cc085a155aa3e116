// Secrets at rest: what opens them, what does not, and where their keys come from.
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSecretBox, type SecretBoxDependencies } from "../../src/compose/secret-box.js";
import { ConfigError, readConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { SecretBox, type SecretKey } from "../../src/store/common/secret-box.js";

const place = { table: "git_connections", column: "token", rowId: "row-1" };
const makeKey = (id: string): SecretKey => ({ id, bytes: randomBytes(32) });
const [old, current] = [makeKey("2025"), makeKey("2026")];
const box = new SecretBox([current, old]);

describe("a sealed secret", () => {
  test.each(["a token", "", "ünïcödé 🔑", "x".repeat(100_000)])("opens to what it was", (text) => {
    const sealed = box.seal(text, place);
    expect(box.open(sealed, place)).toEqual({ kind: "opened", text });
    expect(sealed).toMatch(/^v1\.2026\.[\w-]+\.[\w-]+$/);
  });

  test("is different each time, and reveals nothing of its text", () => {
    const secret = "correct horse battery staple";
    const sealed = [box.seal(secret, place), box.seal(secret, place)];
    expect(sealed[0]?.split(".")[2]).not.toBe(sealed[1]?.split(".")[2]);
    expect(sealed[0]?.split(".")[3]).not.toBe(sealed[1]?.split(".")[3]);
    expect(Buffer.from(sealed.join(""), "base64url").includes(secret)).toBe(false);
  });

  test("opens nowhere but in its own row and column", () => {
    const sealed = box.seal("a token", place);
    const elsewhere = [
      { ...place, table: "model_providers" },
      { ...place, column: "login" },
      { ...place, rowId: "row-2" },
      { table: "git_connections.token", column: "", rowId: "row-1" },
    ];
    expect(elsewhere.map((it) => box.open(sealed, it))).toEqual(elsewhere.map(() => ({ kind: "broken" })));
    expect(elsewhere.map((it) => box.rewrap(sealed, it).kind)).toEqual(elsewhere.map(() => "broken"));
  });

  test("does not open when any of its characters was changed", () => {
    const sealed = box.seal("a token", place);
    const kinds = new Set<string>();
    const start = "v1.2026.".length;
    for (let at = start; at < sealed.length; at += 1) {
      const other = sealed[at] === "A" ? "B" : "A";
      // The last character of a part may hold bits that mean nothing; another text of the same bytes is the same.
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      const isSame = (text: string) =>
        text.split(".").every((part, i) => Buffer.from(part, "base64url").equals(partOf(sealed, i)));
      if (!isSame(changed)) kinds.add(box.open(changed, place).kind);
    }
    expect([...kinds]).toEqual(["broken"]);
  });

  test("does not open with parts of another", () => {
    const [one = [], two = []] = ["one", "two"].map((text) => box.seal(text, place).split("."));
    const mixed = [one[0], one[1], one[2], two[3]].join(".");
    const relabelled = ["v1", "2025", one[2], one[3]].join(".");
    expect([mixed, relabelled].map((it) => box.open(it, place))).toEqual([
      { kind: "broken" },
      { kind: "broken" },
    ]);
  });

  test.each(["", "nonsense", "v1", "v1.2026..", "v1.2026.AA.AA", "v2.2026.AAAA.AAAA", "v1.2026.a.b.c", "\0"])(
    "is not %j",
    (text) => {
      expect([box.open(text, place).kind, box.rewrap(text, place).kind]).toEqual(["broken", "broken"]);
    },
  );
});

function partOf(sealed: string, index: number): Buffer {
  return Buffer.from(sealed.split(".")[index] ?? "", "base64url");
}

describe("keys", () => {
  test("the first seals, all open", () => {
    const sealed = new SecretBox([old]).seal("a token", place);
    expect(box.open(sealed, place)).toEqual({ kind: "opened", text: "a token" });
    expect(box.seal("a token", place)).toMatch(/^v1\.2026\./);
  });

  test("a secret whose key is not here says which one it needs", () => {
    const sealed = new SecretBox([current]).seal("a token", place);
    const other = new SecretBox([old]);
    const unknown = { kind: "unknown-key", keyId: "2026" };
    expect([other.open(sealed, place), other.rewrap(sealed, place)]).toEqual([unknown, unknown]);
  });

  test("another key of the same id does not open it", () => {
    const sealed = box.seal("a token", place);
    expect(new SecretBox([makeKey("2026")]).open(sealed, place)).toEqual({ kind: "broken" });
  });

  test("a secret can be rewrapped with the newest key, and then does not need the old one", () => {
    const sealed = new SecretBox([old]).seal("a token", place);
    const rewrapped = box.rewrap(sealed, place);
    const text = rewrapped.kind === "rewrapped" ? rewrapped.sealed : "";
    expect(new SecretBox([current]).open(text, place)).toEqual({ kind: "opened", text: "a token" });
    expect(box.rewrap(text, place)).toEqual({ kind: "current" });
  });

  test("are not shown by an inspection of the box", () => {
    const shown = inspect(box, { showHidden: true, depth: 10 }) + JSON.stringify(box);
    expect(shown).not.toContain(Buffer.from(current.bytes).toString("base64"));
    expect(shown).not.toContain(Buffer.from(current.bytes).toString("hex"));
    expect(shown).not.toContain([...current.bytes].slice(0, 4).join(", "));
  });

  test("must be there, and have 32 bytes", () => {
    expect(() => new SecretBox([])).toThrow("A secret box needs a key.");
    expect(() => new SecretBox([{ id: "short", bytes: randomBytes(16) }])).toThrow("A key has 32 bytes.");
  });
});

describe("where keys come from", () => {
  const nothingSealed: SecretBoxDependencies = {
    log: createLog("silent"),
    countKeys: () => Promise.resolve([]),
  };
  /** What was sealed earlier with a key, and what is said of it. */
  const sealedWith = (keyId: string) => {
    const said: string[] = [];
    const log = pino({ level: "trace" }, { write: (line: string) => said.push(line) });
    const count = { table: "git_connections", column: "token", keyId, count: 3 };
    return { said, log, countKeys: () => Promise.resolve([count]) };
  };
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "parley-keys-"));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const embedded = () => ({ dataDir, databaseUrl: undefined, secretsKeys: undefined });
  const configOf = (text: string) => readConfig({ PARLEY_SECRETS_KEYS: text }, "/", () => true).secretsKeys;
  const written = ({ id, bytes }: SecretKey) => `${id}:${Buffer.from(bytes).toString("base64")}`;

  test("the embedded database's is created once, readable by its owner alone", async () => {
    const boxes = await Promise.all([
      openSecretBox(embedded(), nothingSealed),
      openSecretBox(embedded(), nothingSealed),
    ]);
    const later = await openSecretBox(embedded(), nothingSealed);
    const sealed = boxes[0]?.seal("a token", place) ?? "";
    const opened = { kind: "opened", text: "a token" };
    expect([boxes[1]?.open(sealed, place), later?.open(sealed, place)]).toEqual([opened, opened]);
    expect(await readdir(dataDir)).toEqual(["secrets.key"]);
    expect((await stat(join(dataDir, "secrets.key"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, "secrets.key"), "utf8")).toMatch(/^local-[0-9a-f]{8}:[\w+/]{43}=\n$/);
  });

  test("configured ones come before it, and what it sealed stays readable", async () => {
    const sealed = (await openSecretBox(embedded(), nothingSealed))?.seal("a token", place) ?? "";
    const both = await openSecretBox({ ...embedded(), secretsKeys: [current] }, nothingSealed);
    expect(both?.open(sealed, place)).toEqual({ kind: "opened", text: "a token" });
    expect(both?.seal("another", place)).toMatch(/^v1\.2026\./);
  });

  test("a damaged key file stops the start, and is not replaced", async () => {
    await writeFile(join(dataDir, "secrets.key"), "half a ke");
    await expect(openSecretBox(embedded(), nothingSealed)).rejects.toThrow("does not contain a key");
    expect(await readFile(join(dataDir, "secrets.key"), "utf8")).toBe("half a ke");
    await chmod(join(dataDir, "secrets.key"), 0o600);
  });

  test("a lost key file stops the start while there is something that it sealed, and no other key is made", async () => {
    const lost = openSecretBox(embedded(), sealedWith("local-1"));
    await expect(lost).rejects.toThrow(
      /secrets\.key is missing.* 3 secrets .*\(key local-1\).*parley secrets new-key/,
    );
    expect(await readdir(dataDir)).toEqual([]);
  });

  test("values sealed with a missing key are logged at every start, by column and key", async () => {
    const facts = sealedWith("2024");
    await openSecretBox({ ...embedded(), secretsKeys: [current] }, facts);
    expect(facts.said.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 50, table: "git_connections", column: "token", keyId: "2024", count: 3 },
    ]);
    const quiet = sealedWith(old.id);
    await openSecretBox({ ...embedded(), secretsKeys: [current, old] }, quiet);
    expect(quiet.said).toEqual([]);
  });

  test("a key file that others can read is logged", async () => {
    await openSecretBox(embedded(), nothingSealed);
    await chmod(join(dataDir, "secrets.key"), 0o644);
    const facts = { ...sealedWith("2026"), countKeys: nothingSealed.countKeys };
    await openSecretBox(embedded(), facts);
    expect(facts.said).toEqual([expect.stringContaining("other users of this machine can read the key")]);
  });

  test("a start that was killed while it created the key is completed by the next", async () => {
    await writeFile(join(dataDir, "secrets.key.local-dead"), "local-dead:half a ke");
    const box = await openSecretBox(embedded(), nothingSealed);
    const again = await openSecretBox(embedded(), nothingSealed);
    expect(again.open(box.seal("a token", place), place)).toEqual({ kind: "opened", text: "a token" });
  });

  test("with an external database they must be configured, and none is created", async () => {
    const own = { dataDir, databaseUrl: "postgres://db.example/parley" };
    await expect(openSecretBox({ ...own, secretsKeys: undefined }, nothingSealed)).rejects.toThrow(
      /PARLEY_SECRETS_KEYS is not.*parley secrets new-key/,
    );
    expect(await openSecretBox({ ...own, secretsKeys: [current] }, nothingSealed)).toBeInstanceOf(SecretBox);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test("are configured as a list, the first of which seals", () => {
    expect(configOf(`${written(current)}, ${written(old)}`)).toEqual([
      { id: "2026", bytes: Buffer.from(current.bytes) },
      { id: "2025", bytes: Buffer.from(old.bytes) },
    ]);
    expect(configOf("")).toBe(undefined);
  });

  test.each([
    "nonsense",
    "a:short",
    `${written(current)},`,
    `${written(current)},${written(current)}`,
    `a b:${written(current).slice(5)}`,
  ])("a list that is none is refused without being shown", (text) => {
    const failure = (() => {
      try {
        return configOf(text);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(ConfigError);
    expect(String(failure)).toContain("PARLEY_SECRETS_KEYS must be keys as `id:base64` of 32 bytes");
    expect(String(failure)).not.toContain(text);
  });
});
