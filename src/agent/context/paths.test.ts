import { expect, test } from "vitest";
import { resolvePaths } from "./paths.js";

const directories = { workingDirectory: "/code/project", homeDirectory: "/home/ada" };

test("paths may begin at home, at the root or at the working directory, and each counts once", () => {
  const paths = ["~", "~/rules/", "/etc/./rules", "docs", "./docs", "../shared", "~bob", "/home/ada"];
  expect(resolvePaths(paths, directories)).toEqual([
    "/home/ada",
    "/home/ada/rules",
    "/etc/rules",
    "/code/project/docs",
    "/code/shared",
    "/code/project/~bob",
  ]);
});
