import { expect, test } from "vitest";
import { createGitRepository } from "./git-repository.js";

test("every repository is clean and has the same first commit", async () => {
  const [one, two] = await Promise.all([createGitRepository(), createGitRepository()]);
  try {
    const describeState = async (repository: typeof one) => ({
      log: await repository.git("log", "--all", "--format=%H %an %aI %D"),
      status: await repository.git("status", "--porcelain"),
    });
    expect(await describeState(one)).toEqual(await describeState(two));
    await one.write("src/new/file.txt", "new\n");
    expect(await describeState(one)).toEqual({ ...(await describeState(two)), status: "?? src/new/\n" });
  } finally {
    await Promise.all([one.remove(), two.remove()]);
  }
});
