// Outbound requests against real servers on loopback, which are private addresses.
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.js";
import { isPublicAddress } from "../../src/lib/outbound/address-rules.js";
import type { ResolveAll } from "../../src/lib/outbound/guarded-lookup.js";
import { OutboundFetch, type OutboundPolicy } from "../../src/lib/outbound/outbound-fetch.js";
import { OutboundLimitExceeded, OutboundRefused } from "../../src/lib/outbound/refused.js";
import { ManualClock } from "../agent/manual-clock.js";

const guarded: OutboundPolicy = { isPrivateAllowed: false, timeoutMs: 20_000, maxBodyBytes: 1_000_000 };
const allowed: OutboundPolicy = { ...guarded, isPrivateAllowed: true };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Stands for the public internet: an address of this machine that the tests' policy takes for public. */
const OUTSIDE = "127.0.0.2";
const isPublic = (address: string) => address === OUTSIDE;

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<{ port: number; url: string }> {
  const server = createServer(listener).listen(0, host);
  await once(server, "listening");
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
      return once(server, "close");
    },
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://${host}:${port}/` };
}

function outbound(...args: ConstructorParameters<typeof OutboundFetch>): OutboundFetch {
  const made = new OutboundFetch(...args);
  open.push(made);
  return made;
}

/** Each lookup resolves to the next of these answers, and to the last one from then on. */
function resolving(...answers: string[][]): ResolveAll {
  let asked = 0;
  return (_name, _options, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
}

test("a private address is refused unless it is allowed, and then it answers", async () => {
  let requests = 0;
  const { url, port } = await serve((_, response) => {
    requests += 1;
    response.end("inside");
  });
  const out = outbound(systemClock);
  const addresses = [url, `http://localhost:${port}/`, `http://2130706433:${port}/`, `http://[::1]:${port}/`];
  const refusals = await Promise.all(
    addresses.map((address) =>
      out
        .for(guarded)(address)
        .catch((error) => error),
    ),
  );
  expect(refusals.map((error) => (error instanceof OutboundRefused ? error.message : error))).toEqual([
    "127.0.0.1 is a private address; an administrator may allow private networks for this server.",
    "localhost resolves to a private address; an administrator may allow private networks for this server.",
    "127.0.0.1 is a private address; an administrator may allow private networks for this server.",
    "::1 is a private address; an administrator may allow private networks for this server.",
  ]);
  expect(requests).toBe(0);
  expect(await (await out.for(allowed)(url)).text()).toBe("inside");
});

test("a name is checked by the addresses that the connection would use", async () => {
  const { port } = await serve((_, response) => response.end("inside"));
  const inner = outbound(systemClock, {
    resolveAll: resolving(["10.0.0.1", "127.0.0.1", "fd00::1"]),
    isPublic: isPublicAddress,
  });
  await expect(inner.for(guarded)(`http://inner.example:${port}/`)).rejects.toThrow(
    "inner.example resolves to a private address",
  );
});

test("a name that resolves to a public address first and to a private one later is refused then", async () => {
  const hosts: unknown[] = [];
  const { port } = await serve((request, response) => {
    hosts.push(request.headers.host);
    response.setHeader("connection", "close").end("outside");
  }, OUTSIDE);
  const out = outbound(systemClock, {
    resolveAll: resolving([OUTSIDE, "127.0.0.1"], ["127.0.0.1"]),
    isPublic,
  });
  const url = `http://turning.example:${port}/`;
  expect(await (await out.for(guarded)(url)).text()).toBe("outside");
  await expect(out.for(guarded)(url)).rejects.toThrow("turning.example resolves to a private address");
  expect(hosts).toEqual([`turning.example:${port}`]);
});

test("a redirect to a private address is refused like the address itself", async () => {
  let isReached = false;
  const inner = await serve((_, response) => {
    isReached = true;
    response.end();
  });
  const outer = await serve(({ url }, response) => {
    const location = url === "/address" ? inner.url : `http://localhost:${inner.port}/`;
    response.writeHead(302, { location }).end();
  }, OUTSIDE);
  const out = outbound(systemClock, { resolveAll: resolving([OUTSIDE]), isPublic });
  for (const path of ["address", "name"])
    await expect(out.for(guarded)(outer.url + path)).rejects.toThrow(OutboundRefused);
  expect(isReached).toBe(false);
  const manual = await out.for(guarded)(`${outer.url}address`, { redirect: "manual" });
  expect([manual.status, manual.headers.get("location")]).toEqual([302, inner.url]);
  expect((await out.for(allowed)(`${outer.url}address`)).status).toBe(200);
});

test("credentials are sent only to the origin that they are for", async () => {
  const seen: Record<string, unknown>[] = [];
  const { url: other } = await serve((request, response) => {
    seen.push(request.headers);
    response.end("there");
  });
  const { url } = await serve((_, response) => response.writeHead(307, { location: other }).end());
  const answer = await outbound(systemClock).for(allowed)(url, {
    method: "POST",
    headers: { authorization: "Bearer secret", "x-api-key": "secret", "content-type": "text/plain" },
    body: "hello",
  });
  expect(await answer.text()).toBe("there");
  expect(seen).toHaveLength(1);
  expect(JSON.stringify(seen)).not.toContain("secret");
  expect(seen[0]).toMatchObject({ "content-type": "text/plain", "content-length": "5" });
});

test("endless redirects are refused after five hops", async () => {
  let requests = 0;
  const { url } = await serve((_, response) => {
    requests += 1;
    response.writeHead(302, { location: `/${requests}` }).end();
  });
  await expect(outbound(systemClock).for(allowed)(url)).rejects.toThrow(OutboundRefused);
  expect(requests).toBe(6);
});

test("an endless response is cut", async () => {
  const { url } = await serve((_, response) => {
    const write = () =>
      void (response.destroyed || response.write("x".repeat(100_000), () => setImmediate(write)));
    write();
  });
  const answer = await outbound(systemClock).for(allowed)(url);
  await expect(answer.text()).rejects.toThrow("longer than 1000000 bytes");
});

test("a server that never begins a response, or never ends a bounded one, times out", async () => {
  const clock = new ManualClock();
  const out = outbound(clock);
  const silent = await serve(() => undefined);
  const slow = await serve((_, response) => void response.writeHead(200).write("{"));
  const timer = clock.nextTimer(20_000);
  const never = out.for(allowed)(silent.url);
  await timer;
  const begun = await out.for(allowed)(slow.url);
  const body = begun.text();
  clock.advance(20_000);
  await expect(never).rejects.toThrow(OutboundLimitExceeded);
  await expect(body).rejects.toThrow("did not answer within 20 s");
});

test("only http and https addresses without a password are allowed", async () => {
  const out = outbound(systemClock).for(allowed);
  for (const url of ["file:///etc/passwd", "ftp://example.org/", "http://me:secret@127.0.0.1/"]) {
    const error: unknown = await out(url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OutboundRefused);
    expect(String(error)).not.toContain("secret");
  }
});
