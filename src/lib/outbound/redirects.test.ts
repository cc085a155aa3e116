// How a redirect changes a request.
import { expect, test } from "vitest";
import { redirected, redirectTarget, type OutboundRequest } from "./redirects.js";

const HEADERS = {
  accept: "application/json",
  authorization: "Bearer secret",
  cookie: "session=secret",
  "content-type": "application/json",
  "x-api-key": "secret",
};

function request(change: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    url: new URL("https://one.example/a/b"),
    method: "POST",
    headers: new Headers(HEADERS),
    body: "{}",
    ...change,
  };
}

function after(status: number, location: string, from = request()) {
  const next = redirected(from, new URL(location, from.url), status);
  if ("problem" in next) return next.problem;
  return { ...next, url: next.url.href, headers: Object.fromEntries(next.headers) };
}

test.each([301, 302, 303])("%i makes a POST a GET without a body", (status) => {
  const { "content-type": _, ...remaining } = HEADERS;
  expect(after(status, "/c")).toEqual({
    url: "https://one.example/c",
    method: "GET",
    headers: remaining,
    body: null,
  });
});

test.each([307, 308])("%i leaves method and body as they are", (status) => {
  expect(after(status, "c")).toEqual({
    url: "https://one.example/a/c",
    method: "POST",
    headers: HEADERS,
    body: "{}",
  });
});

test.each(["https://two.example/", "https://one.example:8443/", "https://www.one.example/"])(
  "%s, which is another origin, gets no credentials",
  (location) => {
    expect(after(307, location)).toMatchObject({
      headers: { accept: "application/json", "content-type": "application/json" },
    });
    expect(JSON.stringify(after(307, location))).not.toContain("secret");
  },
);

test("redirects to unencrypted addresses or to ones with a user name and password are refused", () => {
  expect(after(307, "http://one.example/")).toBe("it redirects from https to an address without encryption");
  expect(after(307, "file:///etc/passwd")).toBe("it redirects from https to an address without encryption");
  expect(after(307, "https://me:you@one.example/")).toBe(
    "it redirects to an address with a user name or password in it",
  );
});

test("only a redirect's status with a location is a redirect", () => {
  const from = new URL("https://one.example/a");
  const target = (status: number, location: string | null = null) =>
    redirectTarget(from, status, location)?.href;
  expect(target(302, "/b")).toBe("https://one.example/b");
  expect([target(302), target(304, "/b"), target(200, "/b")]).toEqual([undefined, undefined, undefined]);
});
