/** What people may be called. */

export const MAX_USERNAME_CHARACTERS = 64;
export const MAX_NAME_CHARACTERS = 200;
const USERNAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/;

/** Null when it may be taken. */
export function usernameProblem(username: string): string | null {
  if (USERNAME.test(username)) return null;
  return `A username has 1 to ${MAX_USERNAME_CHARACTERS} lower-case letters, digits and . _ @ + -, and begins with a letter or a digit.`;
}

/** Null when somebody may be called so. `name` without white space around it. */
export function userNameProblem(name: string): string | null {
  // PostgreSQL keeps no zero in a text.
  if (name !== "" && name.length <= MAX_NAME_CHARACTERS && !name.includes("\u0000")) return null;
  return `A name has 1 to ${MAX_NAME_CHARACTERS} characters.`;
}

/** A username that resembles what an identity provider calls somebody; null when nothing usable is in it. */
export function toUsername(text: string): string | null {
  const plain = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/\s+/g, ".")
    .replace(/[^a-z0-9._@+-]/g, "")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, MAX_USERNAME_CHARACTERS);
  return plain === "" ? null : plain;
}

/** The username with a number behind it, for when it is taken. `count` from 2. */
export function numberedUsername(username: string, count: number): string {
  const suffix = `-${count}`;
  return username.slice(0, MAX_USERNAME_CHARACTERS - suffix.length) + suffix;
}
