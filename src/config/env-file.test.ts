import { describe, expect, test } from "vitest";
import { chooseEnvFile } from "./env-file.js";

const ask = (more: object) => chooseEnvFile({ defaultDataDir: "./.parley", cwd: "/repo", ...more });

describe("the file of settings", () => {
  test.each([
    ["nothing is set", {}, null],
    [
      "the default data folder is elsewhere",
      { defaultDataDir: "/home/me/.local/state/parley" },
      "/home/me/.local/state/parley/.env",
    ],
    ["the data folder is named", { dataDir: "/data" }, "/data/.env"],
    ["the data folder of the repository is named", { dataDir: ".parley" }, "/repo/.parley/.env"],
    ["the data folder is the working directory", { dataDir: "." }, null],
    ["the default data folder is beside it", { defaultDataDir: "../repo2" }, "/repo2/.env"],
    ["the default data folder is in it, with dots", { defaultDataDir: "./..parley" }, null],
  ])("when %s", (_, given, path) => {
    expect(ask(given)).toEqual({ path, isRequired: false, ignored: "/repo/.env" });
  });

  test.each([
    ["/etc/parley.env", { path: "/etc/parley.env", ignored: "/repo/.env" }],
    ["conf/env", { path: "/repo/conf/env", ignored: "/repo/.env" }],
    [".env", { path: "/repo/.env", ignored: null }],
  ])("when it is named %s", (named, choice) => {
    expect(ask({ named, dataDir: "/data" })).toEqual({ ...choice, isRequired: true });
  });
});
