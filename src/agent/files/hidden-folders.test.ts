import { expect, test } from "vitest";
import { HiddenFolders } from "./hidden-folders.js";

test.each<[path: string, directory: string, isHidden: boolean]>([
  ["/project/.parley", "/project", true],
  ["/project/.parley/secrets.key", "/project", true],
  ["/project/.parley/..draft", "/project", true],
  ["/project/.parley-notes", "/project", false],
  ["/project/..parley", "/project", false],
  ["/project", "/project", false],
  ["/project/src", "/project", false],
  ["/project/.parley/workspaces/one/src", "/project/.parley/workspaces/one", false],
  ["/project/.parley/workspaces/two/src", "/project/.parley/workspaces/one", true],
  ["/project/.parley/secrets.key", "/project/.parley/workspaces/one", true],
])("%s, seen by the agent of %s, is hidden: %s", (path, directory, isHidden) => {
  expect(new HiddenFolders(["/project/.parley"], directory).hides(path)).toBe(isHidden);
});
