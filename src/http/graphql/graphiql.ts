/**
 * GraphiQL page at /graphql. It is a single file that loads nothing from elsewhere, which its content policy enforces.
 * The token comes from the URL (`/graphql#token=…`) or a prompt, and stays in the tab.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

const compress = promisify(gzip);

const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  "font-src data:",
  "img-src 'self' data:",
  "worker-src blob:",
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Runs before GraphiQL: finds the token, stores it for this tab, and removes it when the server rejects it. */
const TOKEN_SCRIPT = `<script>
  const parleyToken = (() => {
    const key = "parley:token";
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (given) history.replaceState(null, "", location.pathname + location.search);
    const token = given || sessionStorage.getItem(key) || prompt("Parley access token") || "";
    sessionStorage.setItem(key, token);
    const plainFetch = window.fetch;
    window.fetch = async (...args) => {
      const answer = await plainFetch(...args);
      if (answer.status === 401) sessionStorage.removeItem(key);
      return answer;
    };
    return token.trim();
  })();
</script>
`;

// The renderer takes options as JSON only, but the page needs an expression.
const OPTIONS_MARK = "parley-graphiql-options";
const OPTIONS_EXPRESSION = `{
  endpoint: "/graphql",
  subscriptionsProtocol: "WS",
  headers: JSON.stringify({ authorization: "Bearer " + parleyToken }, null, 2),
  additionalHeaders: { authorization: "Bearer " + parleyToken },
  connectionParams: () => ({ token: parleyToken }),
}`;

/** True for a browser that opens the URL; GraphQL clients do not accept HTML. */
export function wantsGraphiql(request: FastifyRequest): boolean {
  return request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
}

/** Returns a handler that sends the page. The page is rendered at the first request: it has 9 MB, and production never needs it. */
export function createGraphiqlPage(): (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply> {
  let page: Promise<{ plain: Buffer; compressed: Buffer }> | undefined;
  return async (request, reply) => {
    page ??= renderPage();
    const { plain, compressed } = await page;
    const takesGzip = String(request.headers["accept-encoding"] ?? "").includes("gzip");
    if (takesGzip) reply.header("content-encoding", "gzip");
    return reply
      .header("content-security-policy", CONTENT_POLICY)
      .header("referrer-policy", "no-referrer")
      .header("x-content-type-options", "nosniff")
      .header("cache-control", "no-cache")
      .header("vary", "accept, accept-encoding")
      .type("text/html; charset=utf-8")
      .send(takesGzip ? compressed : plain);
  };
}

async function renderPage(): Promise<{ plain: Buffer; compressed: Buffer }> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql");
  const html = renderGraphiQL({ title: OPTIONS_MARK });
  const options = JSON.stringify({ title: OPTIONS_MARK });
  const [before, after, ...more] = html.split(options);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error("The GraphiQL renderer does not place its options as expected");
  }
  const [start, end] = splitOnce(before, "<body");
  const titled = start.replace(OPTIONS_MARK, "Parley GraphiQL");
  const plain = Buffer.from(`${titled}${TOKEN_SCRIPT}<body${end}${OPTIONS_EXPRESSION}${after}`);
  return { plain, compressed: await compress(plain) };
}

function splitOnce(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  if (index < 0) throw new Error(`The GraphiQL page has no ${at}`);
  return [text.slice(0, index), text.slice(index + at.length)];
}
