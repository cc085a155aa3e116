// Definition of an environment variable: name, meaning, parser, and whether it is secret.
// The variables themselves are in config.ts.
import { resolve } from "node:path";
import { z } from "zod";

/** Context of parsing besides the text. */
export type ParseContext = {
  cwd: string;
  isDirectory: (path: string) => boolean;
  /** The data folder where none is configured. */
  dataDir: () => string;
};

export type Variable<T> = {
  name: string;
  /** One sentence for `parley serve --help`. */
  meaning: string;
  /** The effect of leaving it unset, in words or as the value itself. */
  defaultText: string;
  /** Completes the sentence "NAME must be …". */
  expected: string;
  /** Secret values never appear in messages. */
  secret: boolean;
  /** The value for a set variable; undefined when the text is invalid. */
  parse: (text: string, context: ParseContext) => T | undefined;
  /** The value for an unset variable. */
  whenUnset: (context: ParseContext) => T;
};

export type Accepted<T> = Pick<Variable<T>, "expected" | "parse"> & { secret?: boolean };
type Facts = { name: string; meaning: string };

/** A variable with a default, given as the text of its value. */
export function withDefault<T>(facts: Facts, defaultText: string, accepted: Accepted<T>): Variable<T> {
  const whenUnset = (context: ParseContext): T => {
    const value = accepted.parse(defaultText, context);
    if (value === undefined) throw new Error(`the default of ${facts.name} is invalid`);
    return value;
  };
  return { secret: false, ...facts, ...accepted, defaultText, whenUnset };
}

/** A variable that may stay unset; `defaultText` says what happens then. */
export function optional<T>(
  facts: Facts,
  defaultText: string,
  accepted: Accepted<T>,
): Variable<T | undefined> {
  return { secret: false, ...facts, ...accepted, defaultText, whenUnset: () => undefined };
}

export function accept<T>(expected: string, schema: z.ZodType<T, string>): Accepted<T> {
  return { expected, parse: (text) => schema.safeParse(text).data };
}

export function wholeNumber(least: number, most: number, unit = ""): Accepted<number> {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));
  return accept(`a whole number${unit} from ${least} to ${most}`, schema);
}

/** The same numbers, and 0 for "none". */
export function zeroOr({ expected, parse, ...rest }: Accepted<number>): Accepted<number> {
  return {
    ...rest,
    expected: `0, or ${expected}`,
    parse: (text, context) => (text === "0" ? 0 : parse(text, context)),
  };
}

export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
): Accepted<Words[number]> {
  return accept(`one of ${words.join(", ")}`, z.enum(words));
}

export function address(protocols: readonly string[]): Accepted<string> {
  const schema = z.string().refine((text) => {
    return protocols.some((protocol) => text.startsWith(`${protocol}//`)) && URL.canParse(text);
  });
  // Such URLs may contain a password.
  return {
    ...accept(`a URL that starts with ${protocols.map((it) => `${it}//`).join(" or ")}`, schema),
    secret: true,
  };
}

/** An address for browsers: without query, user and trailing slash. */
export const publicAddress: Accepted<string> = {
  expected: "a URL that starts with https:// or http://, without user, query and fragment",
  secret: false,
  parse(text) {
    const url = readWebAddress(text);
    return url && `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  },
};

/** In the given order; empty text = none. */
export const origins: Accepted<readonly string[]> = {
  expected: "origins such as https://chat.example, separated by commas",
  secret: false,
  parse(text) {
    const words = text.split(",").map((word) => word.trim());
    const urls = words.filter((word) => word !== "").map(readWebAddress);
    if (urls.some((url) => url === undefined || url.pathname !== "/")) return undefined;
    return urls.flatMap((url) => (url === undefined ? [] : [url.origin]));
  },
};

function readWebAddress(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain && ["https:", "http:"].includes(url.protocol) ? url : undefined;
}

/** Keys and tokens are sent in HTTP headers, where only visible ASCII is safe. */
export function secretWord(leastCharacters: number): Accepted<string> {
  const schema = z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .min(leastCharacters);
  const length = leastCharacters > 1 ? `at least ${leastCharacters} ` : "";
  return { ...accept(`${length}characters of visible ASCII without spaces`, schema), secret: true };
}

/** A key of 32 bytes with its id. */
export type KeyWithId = { id: string; bytes: Uint8Array };

const SECRET_KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/;

/** `id:base64` of 32 bytes, several separated by commas; undefined when the text is anything else. */
export function parseSecretKeys(text: string): KeyWithId[] | undefined {
  const found = text.split(",").map((entry) => SECRET_KEY.exec(entry.trim()));
  const keys = found.flatMap((match) =>
    match === null ? [] : [{ id: match[1] ?? "", bytes: Buffer.from(match[2] ?? "", "base64") }],
  );
  const isWhole = keys.length === found.length && new Set(keys.map(({ id }) => id)).size === keys.length;
  return isWhole ? keys : undefined;
}

export const secretKeys: Accepted<KeyWithId[]> = {
  expected: "keys as `id:base64` of 32 bytes, separated by commas, each id once",
  parse: parseSecretKeys,
  secret: true,
};

export const word = (expected: string): Accepted<string> => accept(expected, z.string().regex(/^\S+$/));
export const folder: Accepted<string> = {
  expected: "a folder's path",
  parse: (text, { cwd }) => resolve(cwd, text),
};
export const existingFolder: Accepted<string> = {
  expected: "the path of an existing folder",
  parse(text, { cwd, isDirectory }) {
    const path = resolve(cwd, text);
    return isDirectory(path) ? path : undefined;
  },
};
/** Names of variables other than Parley's own; each may end in `*`. */
export const variableNames: Accepted<readonly string[]> = {
  expected: "names of variables that do not begin with PARLEY_, separated by commas; each may end in *",
  secret: false,
  parse(text) {
    const names = text.split(",").map((name) => name.trim());
    const given = names.filter((name) => name !== "");
    const isName = (name: string) => /^(?!PARLEY_)[A-Za-z_][A-Za-z0-9_]*\*?$/i.test(name);
    return given.every(isName) ? given : undefined;
  },
};
export const onOrOff: Accepted<boolean> = accept(
  "on or off",
  z.enum(["on", "off"]).transform((text) => text === "on"),
);

export function vendorKey(name: string, models: string): Variable<string | undefined> {
  return optional({ name, meaning: `Key for ${models}.` }, `none; no ${models}`, secretWord(1));
}

export function vendorAddress(name: string, owner: string): Variable<string | undefined> {
  const facts = { name, meaning: `Another endpoint with ${owner} API.` };
  return optional(facts, `${owner} own endpoint`, address(["https:", "http:"]));
}
