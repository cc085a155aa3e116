/** Validation of usernames and display names. */

const MAX_USERNAME_CHARACTERS = 64;
const MAX_NAME_CHARACTERS = 200;
const USERNAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/;

/** The problem of a username; null when it is valid. */
export function usernameProblem(username: string): string | null {
  if (USERNAME.test(username)) return null;
  return `A username must have 1 to ${MAX_USERNAME_CHARACTERS} lower-case letters, digits and . _ @ + -, and begin with a letter or a digit.`;
}

/** The problem of a display name; null when it is valid. `name` must be trimmed. */
export function userNameProblem(name: string): string | null {
  // PostgreSQL cannot store U+0000 in a text.
  if (name !== "" && name.length <= MAX_NAME_CHARACTERS && !name.includes("\u0000")) return null;
  return `A name must have 1 to ${MAX_NAME_CHARACTERS} characters.`;
}

/** A valid username derived from an identity provider's name; null when nothing usable is left. */
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

/** The username with a numeric suffix, for when it is taken. `count` from 2. */
export function numberedUsername(username: string, count: number): string {
  const suffix = `-${count}`;
  return username.slice(0, MAX_USERNAME_CHARACTERS - suffix.length) + suffix;
}
