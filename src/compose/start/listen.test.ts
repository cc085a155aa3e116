import { expect, test } from "vitest";
import { explainListening } from "./listen.js";

const at = (port: number, isPortChosen: boolean) => ({ host: "127.0.0.1", port, isPortChosen });
const failure = (code?: string) => Object.assign(new Error("it failed"), code === undefined ? {} : { code });

test.each<[code: string | undefined, isPortChosen: boolean, text: RegExp | null]>([
  ["EADDRINUSE", true, /^PARLEY_PORT is 4000, but another program listens/],
  ["EADDRINUSE", false, /^Another program listens on port 4000 .* PARLEY_PORT/],
  ["EACCES", true, /^PARLEY_PORT is 4000, but this user may not/],
  ["EADDRNOTAVAIL", false, /^PARLEY_HOST is 127\.0\.0\.1, which is not an address of this machine/],
  ["ENOTFOUND", false, /^PARLEY_HOST is/],
  ["EMFILE", true, null],
  [undefined, true, null],
])("%s with a chosen port: %s", (code, isPortChosen, text) => {
  const explained = explainListening(at(4000, isPortChosen), failure(code));
  expect(explained).toEqual(text === null ? null : expect.stringMatching(text));
});
