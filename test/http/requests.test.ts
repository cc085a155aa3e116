// GraphQL over HTTP: tokens, error mask, limits, the GraphiQL page, health, and the HTTP spec.
import { Script } from "node:vm";
import { auditServer } from "graphql-http";
import { describe, expect, test } from "vitest";
import { VIEWER_CACHE_MS } from "../../src/http/auth/viewer.js";
import { ask, ManualClock, openServer, openServers, TOKEN, viewer, type TestServer } from "./support.js";

const open = openServers();

const unauthenticated = {
  errors: [
    {
      message: "A valid access token is required: send it as `Authorization: Bearer <token>`.",
      extensions: { code: "UNAUTHENTICATED" },
    },
  ],
};

describe("tokens", () => {
  test("a request with a valid token runs as its viewer", async () => {
    const server = await open();
    const answer = await ask(server, "{ viewer }");
    expect([answer.status, answer.body]).toEqual([200, { data: { viewer: "ada" } }]);
    expect(answer.headers.get("x-request-id")).toBe(server.world.contexts[0]?.requestId);
  });

  test.each([null, "pt_bad", "pt good", ""])("the token %j is refused with 401", async (token) => {
    const server = await open();
    const answer = await ask(server, "{ viewer }", { token });
    expect([answer.status, answer.body]).toEqual([401, unauthenticated]);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(server.world.contexts).toEqual([]);
  });

  test("introspection needs a token too", async () => {
    const answer = await ask(await open(), "{ __schema { queryType { name } } }", { token: null });
    expect(answer.status).toBe(401);
  });

  test("many requests read a token once, until its cache entry expires", async () => {
    const clock = new ManualClock();
    const asked: string[] = [];
    const authenticate = async (token: string) => {
      asked.push(token);
      return token === TOKEN ? viewer : null;
    };
    const server = await open({ clock, authenticate });
    await Promise.all(Array.from({ length: 20 }, () => ask(server, "{ hello }")));
    expect(asked).toEqual([TOKEN]);
    clock.advance(VIEWER_CACHE_MS + 1);
    await ask(server, "{ hello }");
    expect(asked).toEqual([TOKEN, TOKEN]);
  });

  test("a token created after its first refusal works immediately", async () => {
    const known = new Set<string>();
    const server = await open({ authenticate: async (token) => (known.has(token) ? viewer : null) });
    expect((await ask(server, "{ hello }")).status).toBe(401);
    known.add(TOKEN);
    expect((await ask(server, "{ hello }")).status).toBe(200);
  });

  test("a token that expires while it is cached is refused", async () => {
    const clock = new ManualClock();
    const expiresAt = clock.now() + 1_000;
    const server = await open({ clock, authenticate: async () => ({ ...viewer, expiresAt }) });
    expect((await ask(server, "{ hello }")).status).toBe(200);
    clock.advance(1_000);
    expect((await ask(server, "{ hello }")).status).toBe(401);
  });

  test("a failed token lookup is an internal error, and is repeated", async () => {
    let isDown = true;
    const server = await open({
      authenticate: () => {
        if (isDown) throw new Error("database password is hunter2");
        return Promise.resolve(viewer);
      },
    });
    const answer = await ask(server, "{ hello }");
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.body)).not.toContain("hunter2");
    isDown = false;
    expect((await ask(server, "{ hello }")).status).toBe(200);
  });
});

describe("masking", () => {
  test("an unexpected error is sent as a reference that the log has too", async () => {
    const server = await open();
    const { status, body } = await ask(server, "{ boom hello }");
    const reference = body.errors?.[0]?.extensions.reference;
    expect(reference).toMatch(/^[0-9a-f-]{36}$/);
    expect([status, body]).toEqual([
      200,
      {
        data: { boom: null, hello: "world" },
        errors: [
          {
            message: "Internal server error.",
            locations: [{ line: 1, column: 3 }],
            path: ["boom"],
            extensions: { code: "INTERNAL_SERVER_ERROR", reference },
          },
        ],
      },
    ]);
    expect(server.lines.filter((line) => line.reference === reference)).toHaveLength(1);
    expect(JSON.stringify(server.lines)).toContain("hunter2");
  });

  test("one failure at two fields is logged once", async () => {
    const server = await open();
    const { body } = await ask(server, "{ boomTwice }");
    const references = body.errors?.map(({ extensions }) => extensions.reference);
    expect(references).toHaveLength(2);
    expect(new Set(references).size).toBe(1);
    expect(server.lines).toHaveLength(1);
  });

  test("a result of the wrong type does not reveal the value", async () => {
    const { body } = await ask(await open(), "{ wrongInt }");
    expect(body.errors?.[0]).toMatchObject({ extensions: { code: "INTERNAL_SERVER_ERROR" } });
    expect(JSON.stringify(body)).not.toContain("hunter2");
  });

  test("an intended error passes without its private extensions", async () => {
    const { body } = await ask(await open(), "{ refused }");
    expect(body).toEqual({
      data: { refused: null },
      errors: [
        {
          message: "Not yours.",
          locations: [{ line: 1, column: 3 }],
          path: ["refused"],
          extensions: { code: "FORBIDDEN" },
        },
      ],
    });
  });

  test("a failing context is masked", async () => {
    const server = await open({
      createContext: () => {
        throw new Error("hunter2");
      },
    });
    const { status, body } = await ask(server, "{ hello }");
    expect(status).toBe(500);
    expect(body.errors?.[0]).toMatchObject({
      message: "Internal server error.",
      extensions: { code: "INTERNAL_SERVER_ERROR" },
    });
  });

  test.each([
    [false, 'Cannot query field "helo" on type "Query". Did you mean "hello"?'],
    [true, 'Cannot query field "helo" on type "Query".'],
  ])("production %s: a misspelt field is answered with %j", async (isProduction, message) => {
    const { body } = await ask(await open({ isProduction }), "{ helo }");
    expect(body.errors?.[0]).toMatchObject({ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } });
  });
});

describe("the body", () => {
  const post = (server: TestServer, body: string, headers: Record<string, string> = {}) =>
    fetch(server.graphqlUrl, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, ...headers },
      body,
    });

  test("14 MB are refused with 413 and a clear message", async () => {
    const response = await post(
      await open(),
      JSON.stringify({ query: "{ hello }", x: "y".repeat(14_000_000) }),
    );
    expect([response.status, await response.json()]).toEqual([
      413,
      {
        errors: [
          {
            message: "The request body is larger than 13048576 bytes.",
            extensions: { code: "BAD_REQUEST" },
          },
        ],
      },
    ]);
  });

  test.each(["{", "", "null", '"hello"', "[]", '{"query":5}'])("%j is a client error", async (body) => {
    const server = await open();
    const response = await post(server, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: "BAD_REQUEST" } }] });
    expect(server.lines).toEqual([]);
  });

  test("several operations in one request are refused", async () => {
    const response = await post(
      await open(),
      JSON.stringify([{ query: "{ hello }" }, { query: "{ hello }" }]),
    );
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("batching")]);
  });

  test("a form post, which another site could send, is refused", async () => {
    const server = await open();
    const response = await post(server, "query={hello}", { "content-type": "text/plain" });
    expect(response.status).toBe(400);
    expect(server.world.contexts).toEqual([]);
  });

  test("a GET needs a header that other sites cannot send, and cannot run mutations", async () => {
    const server = await open();
    const get = async (query: string, headers: Record<string, string>) => {
      const url = `${server.graphqlUrl}?query=${encodeURIComponent(query)}`;
      return (await fetch(url, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } })).status;
    };
    const preflight = { "apollo-require-preflight": "1" };
    expect(await get("{ hello }", {})).toBe(400);
    expect(await get("{ hello }", preflight)).toBe(200);
    expect(await get('mutation { write(text: "a") }', preflight)).toBe(405);
    expect(server.world.written).toEqual([]);
  });

  test("a subscription is referred to the WebSocket", async () => {
    const { body } = await ask(await open(), "subscription { ticks { number } }");
    expect(body.errors).toEqual([
      {
        message:
          "Subscriptions are served over WebSocket at this address (graphql-transport-ws), and as event streams at /graphql/stream (graphql-sse).",
        extensions: { code: "BAD_USER_INPUT" },
      },
    ]);
  });
});

describe("the page", () => {
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("a browser gets GraphiQL without a token, and the page loads nothing from elsewhere", async () => {
    const response = await fetch((await open()).graphqlUrl, { headers: html });
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const markup = page.replaceAll(/<script>[^]*?<\/script>|<style>[^]*?<\/style>/g, "");
    expect(markup).not.toMatch(/https?:|<script|<link(?! rel="icon" href="data:)/);
    expect(page).not.toMatch(/@import\s+(url\()?["']?https?:|url\(["']?https?:/);
    const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map((match) => match[1] ?? "");
    expect(scripts).toHaveLength(2);
    for (const script of scripts) expect(() => new Script(script)).not.toThrow();
    expect(page).toContain('subscriptionsProtocol: "WS"');
    expect(page).toContain("connectionParams: () => ({ token: parleyToken })");
    expect(page).not.toContain("parley-graphiql-options");
  });

  test("when disabled, browsers need a token too", async () => {
    const response = await fetch((await open({ isGraphiqlOn: false })).graphqlUrl, { headers: html });
    expect([response.status, await response.json()]).toEqual([401, unauthenticated]);
  });
});

describe("health", () => {
  const get = async (server: TestServer, path: string) => {
    const response = await fetch(server.url + path);
    return [response.status, await response.json()];
  };

  test("a healthy server is alive and ready, without a token", async () => {
    const server = await open();
    expect(await get(server, "/healthz")).toEqual([200, { status: "ok" }]);
    expect(await get(server, "/readyz")).toEqual([200, { status: "ready", checks: { database: "ok" } }]);
  });

  test("without its database a server is alive but not ready", async () => {
    const server = await open({ health: async () => ({ checks: { database: "failing" } }) });
    expect(await get(server, "/healthz")).toEqual([200, { status: "ok" }]);
    expect(await get(server, "/readyz")).toEqual([
      503,
      { status: "unavailable", checks: { database: "failing" } },
    ]);
  });

  test("a check that fails or hangs counts as failing, and its error is only logged", async () => {
    const failing = await open({ health: () => Promise.reject(new Error("hunter2")) });
    const answer = [503, { status: "unavailable", checks: { health: "failing" } }];
    expect(await get(failing, "/readyz")).toEqual(answer);
    expect(JSON.stringify(failing.lines)).toContain("hunter2");

    const clock = new ManualClock();
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const hanging = await open({ clock, health: () => (isAsked(), new Promise(() => undefined)) });
    const pending = get(hanging, "/readyz");
    await asked;
    clock.advance(2_000);
    expect(await pending).toEqual(answer);
  });

  test("many probes check the database once", async () => {
    let probes = 0;
    const health = async () => ({ checks: { database: (probes++, "ok" as const) } });
    const server = await open({ health, clock: new ManualClock() });
    await Promise.all(Array.from({ length: 10 }, () => get(server, "/readyz")));
    expect(probes).toBe(1);
  });
});

test("an unknown path returns 404", async () => {
  const response = await fetch(`${(await open()).url}/admin`);
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      errors: [
        { message: "Not found. The GraphQL endpoint is /graphql.", extensions: { code: "NOT_FOUND" } },
      ],
    },
  ]);
});

test("a port in use is reported and leaves nothing open", async () => {
  const { port } = await open();
  await expect(openServer({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("all 61 checks of the GraphQL-over-HTTP audit pass", async () => {
  const server = await open();
  const results = await auditServer({
    url: server.graphqlUrl,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: {
          ...(init.headers as Record<string, string>),
          authorization: `Bearer ${TOKEN}`,
          "apollo-require-preflight": "1",
        },
      }),
  });
  expect(results).toHaveLength(61);
  expect(results.filter(({ status }) => status !== "ok")).toEqual([]);
});
