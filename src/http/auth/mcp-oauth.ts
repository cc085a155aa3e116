/**
 * Browser routes for connecting an MCP server. `GET /mcp/oauth/start` shows the account that would be connected, `POST`
 * redirects to the authorization server, which sends the browser back to `GET /mcp/oauth/callback`. A cookie binds all
 * three to one browser, so that a consent cannot end in another user's account.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import fastifyCookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { encodeId } from "../../domain/common/ids.js";
import type { McpOauthCallback, McpOauthPages } from "../../domain/mcp/oauth-flow.js";
import {
  connectedPage,
  consentPage,
  contentPolicy,
  failedPage,
  overPage,
  renderPage,
  type Page,
} from "./mcp-oauth-pages.js";

const START_PATH = "/mcp/oauth/start";
const CALLBACK_PATH = "/mcp/oauth/callback";
const DOCUMENT_PATH = "/mcp/oauth/client.json";
/** A ticket and a proof, with ample headroom. */
const MAX_FORM_BYTES = 4_096;
/** Codes and states are opaque, and some are signed tokens. */
const MAX_PARAMETER_CHARACTERS = 8_192;
const MAX_ERROR_CHARACTERS = 300;
const BROWSER_BYTES = 32;
const BROWSER = /^[\w-]{43}$/;
/** Longer than an authorization attempt may take. */
const COOKIE_SECONDS = 1_200;
const NONCE_BYTES = 16;
/** Message to the window that opened the page; posted to our own origin only. */
const CONNECTED_MESSAGE = "parley:mcp-connected";

export type McpOauthRoutesOptions = {
  pages: McpOauthPages;
  /** Public URL of this deployment, without a trailing slash. */
  publicUrl: () => string;
  /** OAuth client metadata document, for authorization servers that read it; null = they cannot reach it. */
  clientDocument: () => object | null;
};

/** URLs of these routes in a deployment. */
export function mcpOauthAddresses(publicUrl: string) {
  const document = `${publicUrl}${DOCUMENT_PATH}`;
  return {
    startUrl: `${publicUrl}${START_PATH}`,
    redirectUri: `${publicUrl}${CALLBACK_PATH}`,
    // A client id of this kind must be an https URL.
    documentUrl: publicUrl.startsWith("https:") ? document : null,
  };
}

export function addMcpOauthRoutes(app: FastifyInstance, options: McpOauthRoutesOptions): void {
  app.register(async (scope) => {
    if (!scope.hasRequestDecorator("cookies")) await scope.register(fastifyCookie);
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    const shared = { exposeHeadRoute: false };
    scope.get(START_PATH, shared, (request, reply) => showConsent(options, request, reply));
    scope.post(START_PATH, (request, reply) => redirectToProvider(options, request, reply));
    scope.get(CALLBACK_PATH, shared, (request, reply) => finish(options, request, reply));
    scope.get(DOCUMENT_PATH, shared, async (_request, reply) => {
      const document = options.clientDocument();
      if (document === null) return reply.callNotFound();
      return reply.header("cache-control", "public, max-age=300").send(document);
    });
  });
}

async function showConsent(
  { pages, publicUrl }: McpOauthRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const ticket = readParameter(request.query, "ticket");
  const question = ticket === null ? null : await pages.readConsent(ticket);
  if (ticket === null || question === null) return send(reply, overPage);
  const cookie = cookieOf(publicUrl());
  const browser = readBrowser(request, cookie.name) ?? randomBytes(BROWSER_BYTES).toString("base64url");
  reply.setCookie(cookie.name, browser, cookie.options);
  const action = new URL(mcpOauthAddresses(publicUrl()).startUrl).pathname;
  return send(reply, consentPage(question, { action, ticket, proof: proofOf(ticket, browser) }));
}

/** A form of another site has neither the cookie nor the proof, so that it cannot consent for the user. */
async function redirectToProvider(
  { pages, publicUrl }: McpOauthRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const ticket = form.get("ticket") ?? "";
  const browser = readBrowser(request, cookieOf(publicUrl()).name);
  const site = request.headers["sec-fetch-site"];
  const isFromHere = site === undefined || site === "same-origin";
  if (browser === null || !isFromHere || !isProof(form.get("proof") ?? "", proofOf(ticket, browser)))
    return send(reply, overPage);
  const url = await pages.authorize(ticket, browser);
  if (url === null) return send(reply, overPage);
  return guarded(reply).redirect(url, 303);
}

async function finish(
  { pages, publicUrl }: McpOauthRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const callback = readCallback(request.query);
  const browser = readBrowser(request, cookieOf(publicUrl()).name);
  if (callback === null || browser === null) return send(reply, overPage);
  const end = await pages.finish(callback, browser);
  if (end.kind !== "connected") return send(reply, failedPage(end));
  if (end.returnTo !== null) return guarded(reply).redirect(end.returnTo, 303);
  const message = { type: CONNECTED_MESSAGE, serverId: encodeId("mcp", end.serverId) };
  return send(reply, connectedPage(end, { origin: new URL(publicUrl()).origin, message }));
}

function readCallback(query: unknown): McpOauthCallback | null {
  const state = readParameter(query, "state");
  if (state === null) return null;
  const code = readParameter(query, "error");
  const description = readParameter(query, "error_description") ?? "";
  const error = code && { code: printable(code), description: printable(description) };
  return {
    state,
    code: readParameter(query, "code"),
    issuer: readParameter(query, "iss"),
    error: error || null,
  };
}

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ").slice(0, MAX_ERROR_CHARACTERS);
}

/** Null unless it is there exactly once, not empty, and of a plausible length. */
function readParameter(query: unknown, name: string): string | null {
  const value: unknown =
    typeof query === "object" && query !== null
      ? Object.getOwnPropertyDescriptor(query, name)?.value
      : undefined;
  if (typeof value !== "string" || value === "" || value.length > MAX_PARAMETER_CHARACTERS) return null;
  return value;
}

/** Over TLS, a name that no other host of the domain can set, which browsers only allow with path `/`. */
function cookieOf(publicUrl: string) {
  const { protocol, pathname } = new URL(mcpOauthAddresses(publicUrl).startUrl);
  const isSecure = protocol === "https:";
  const path = isSecure ? "/" : pathname.slice(0, pathname.lastIndexOf("/"));
  const name = isSecure ? "__Host-parley_mcp_oauth" : "parley_mcp_oauth";
  const options = {
    path,
    httpOnly: true,
    sameSite: "lax" as const,
    secure: isSecure,
    maxAge: COOKIE_SECONDS,
  };
  return { name, options };
}

function readBrowser(request: FastifyRequest, name: string): string | null {
  const browser = request.cookies[name];
  return browser !== undefined && BROWSER.test(browser) ? browser : null;
}

function proofOf(ticket: string, browser: string): string {
  return createHmac("sha256", browser).update(ticket).digest("base64url");
}

function isProof(proof: string, expected: string): boolean {
  return proof.length === expected.length && timingSafeEqual(Buffer.from(proof), Buffer.from(expected));
}

function send(reply: FastifyReply, page: Page): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  return guarded(reply)
    .code(page.status)
    .header("content-security-policy", contentPolicy(nonce))
    .type("text/html; charset=utf-8")
    .send(renderPage(page, nonce));
}

/** These URLs contain tickets and codes. */
function guarded(reply: FastifyReply): FastifyReply {
  return reply
    .header("referrer-policy", "no-referrer")
    .header("cache-control", "no-store")
    .header("x-content-type-options", "nosniff");
}
