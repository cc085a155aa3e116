import { expect, test } from "vitest";
import { defaultDataDir } from "./data-dir.js";

type Case = [
  name: string,
  env: Record<string, string>,
  platform: NodeJS.Platform,
  hasOld: boolean,
  dataDir: string,
];

const HOME = "/home/ada";

test.each<Case>([
  ["below the home folder", { HOME }, "linux", false, "/home/ada/.local/state/parley"],
  ["XDG_STATE_HOME", { HOME, XDG_STATE_HOME: "/state" }, "linux", false, "/state/parley"],
  [
    "a relative XDG_STATE_HOME",
    { HOME, XDG_STATE_HOME: "state" },
    "linux",
    false,
    "/home/ada/.local/state/parley",
  ],
  ["an empty XDG_STATE_HOME", { HOME, XDG_STATE_HOME: "" }, "linux", false, "/home/ada/.local/state/parley"],
  [
    "macOS",
    { HOME, XDG_STATE_HOME: "/state" },
    "darwin",
    false,
    "/home/ada/Library/Application Support/parley",
  ],
  [
    "one of an earlier version",
    { HOME, XDG_STATE_HOME: "/state" },
    "linux",
    true,
    "/home/ada/project/.parley",
  ],
])("the default data folder: %s", (_name, env, platform, hasOld, dataDir) => {
  const isOldDataDir = (path: string) => hasOld && path === "/home/ada/project/.parley";
  expect(defaultDataDir({ env, cwd: "/home/ada/project", platform, isOldDataDir })).toBe(dataDir);
});
