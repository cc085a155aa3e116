// The page runs in a real browser and shows a turn live, over a network that breaks.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCuttableProxy } from "../sdk/cuttable-proxy.js";
import { startGatedModel } from "../support/models/gated-model.js";
import { createTestEnvironment, type TestEnvironment } from "../support/parley.js";
import { CHROMIUM, has } from "../support/requirements.js";

const root = resolve(import.meta.dirname, "../..");
const MAX_BUNDLE_BYTES = 60_000;

let folder: string;
let bundle: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-page-"));
  const outfile = join(folder, "page.js");
  const entry = join(root, "examples/browser/page.ts");
  // `platform: browser` refuses whatever only Node has.
  await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    outfile,
  });
  bundle = await readFile(outfile);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

test("the page with the whole SDK needs nothing of Node and stays small", () => {
  const bytes = gzipSync(bundle).length;
  process.stdout.write(`The browser example with the SDK: ${bytes} bytes, gzipped.\n`);
  expect(bytes).toBeLessThan(MAX_BUNDLE_BYTES);
});

describe.skipIf(!has("chromium"))("in Chromium", () => {
  let environment: TestEnvironment;
  let browser: Browser;
  let pages: Server;
  beforeAll(async () => {
    environment = await createTestEnvironment();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    const html = await readFile(join(root, "examples/browser/index.html"));
    pages = createServer((request, response) => {
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? bundle : html);
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await environment?.remove();
  });

  test("a turn is shown while it is written, through a cut, until it rests", async () => {
    const model = await startGatedModel();
    const server = await environment.start(model.settings);
    const proxy = await startCuttableProxy(server.api.url);
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", (fault) => faults.push(fault.message));
    const { port } = pages.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/#url=${proxy.url}&token=${server.api.token}`);
    await page.fill("input", "[[demo: deltas=60 delay=1]]");
    await page.press("input", "Enter");
    const preview = page.locator("article[data-preview]");
    model.clock.let(20);
    await preview.filter({ hasText: "word19 " }).waitFor();
    expect(proxy.cut()).toBe(1);
    model.clock.let(20);
    await preview.filter({ hasText: "word39 " }).waitFor();
    model.clock.open();
    await page.locator("body[data-status=WAITING]").waitFor();
    const shown = await page.locator("article").allTextContents();
    const whole = Array.from({ length: 60 }, (_, index) => `word${index + 1} `).join("");
    expect({ shown, previews: await preview.count(), faults, sockets: proxy.sockets }).toEqual({
      ...{ shown: ["[[demo: deltas=60 delay=1]]", whole], previews: 0, faults: [], sockets: 2 },
    });
    await page.close();
    await proxy.close();
    await server.close();
    await model.close();
  });
});
