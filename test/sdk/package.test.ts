// The package as its users get it.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const tsc = join(root, "node_modules/typescript/bin/tsc");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-client-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

type Manifest = Record<"dependencies" | "peerDependencies", Record<string, string>>;
const readManifest = async () =>
  JSON.parse(await readFile(join(root, "sdk/package.json"), "utf8")) as Manifest;

test("the built package is imported by plain Node with its declared dependencies alone", async () => {
  const home = join(folder, "node_modules/@parley-chat/client");
  // Types of Node are not known to this build: code that used them would fail it.
  await run(process.execPath, [tsc, "-p", join(root, "sdk/tsconfig.json"), "--outDir", join(home, "dist")]);
  await cp(join(root, "sdk/package.json"), join(home, "package.json"));
  const { dependencies, peerDependencies } = await readManifest();
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", name), link);
  }
  const program = `
    import { WebSocket } from "ws";
    import { ChatTranscript, createParley } from "@parley-chat/client";
    const parley = createParley({ url: "http://127.0.0.1:9", token: "pt_1", webSocketImpl: WebSocket });
    const failure = await parley.viewer().catch(({ name, code }) => name + " " + code);
    const streams = typeof parley.chatEvents;
    await parley.close();
    console.log(JSON.stringify({ failure, streams, status: new ChatTranscript().state.status }));`;
  await writeFile(join(folder, "program.mjs"), program);
  const { stdout } = await run(process.execPath, [join(folder, "program.mjs")]);
  expect(JSON.parse(stdout)).toEqual({
    ...{ failure: "ParleyError CONNECTION_LOST", streams: "function", status: null },
  });
});

test("the SDK's source imports its own files and its dependencies, nothing of the server or of Node", async () => {
  const sources = join(root, "sdk/src");
  const imported = new Set<string>();
  for (const name of await readdir(sources)) {
    const code = await readFile(join(sources, name), "utf8");
    for (const [, from = ""] of code.matchAll(/\bfrom\s*["']([^"']+)["'];/g)) imported.add(from);
  }
  const { dependencies, peerDependencies } = await readManifest();
  const allowed = Object.keys({ ...dependencies, ...peerDependencies });
  const unexpected = [...imported].filter(
    (from) =>
      !/^\.\/[a-z-]+\.js$/.test(from) &&
      !allowed.some((name) => from === name || from.startsWith(`${name}/`)),
  );
  expect(unexpected).toEqual([]);
});

test("the page of the browser example compiles with a browser's types alone", async () => {
  await run(process.execPath, [tsc, "-p", join(root, "examples/browser/tsconfig.json")]);
});
