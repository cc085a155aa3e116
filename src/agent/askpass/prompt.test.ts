import { expect, test } from "vitest";
import { parsePrompt } from "./prompt.js";

test.each([
  ["Username for 'https://github.com': ", { wants: "username", site: "https://github.com" }],
  ["Password for 'https://ada@github.com': ", { wants: "password", site: "https://github.com" }],
  [
    "Password for 'https://ada%40example.com@git.example:8443': ",
    { wants: "password", site: "https://git.example:8443" },
  ],
  ["Password for 'https://GitHub.com:443': ", { wants: "password", site: "https://github.com" }],
  ["Username for 'http://127.0.0.1:3000': ", { wants: "username", site: "http://127.0.0.1:3000" }],
  ["Password for 'https://github.com/ada/it's.git': ", { wants: "password", site: "https://github.com" }],
  ["Password for 'https://evil.example@github.com': ", { wants: "password", site: "https://github.com" }],
  ["Password for 'https://ada@example.com@github.com': ", { wants: "password", site: "https://github.com" }],
])("%j is understood", (prompt, requested) => {
  expect(parsePrompt(prompt)).toEqual(requested);
});

test.each([
  "",
  "Enter passphrase for key '/home/ada/.ssh/id_ed25519': ",
  "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
  "Password for 'cert:///home/ada/client.pem': ",
  "Password for 'ssh://git@github.com': ",
  "Password for 'https://': ",
  "Password for 'https://github.com/@evil.example': ",
  "Password for 'https://github.com\\@evil.example': ",
  "Password for 'https://github.com?@evil.example': ",
  "Password for 'https://github.com#@evil.example': ",
  "Password for 'https://ada@github.com/x@evil.example': ",
  "Password for 'https://github%2ecom': ",
  `Password for 'https://${"a".repeat(5_000)}': `,
])("%j is not asked of a server", (prompt) => {
  expect(parsePrompt(prompt)).toBe(null);
});
