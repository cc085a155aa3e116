/**
 * Sign-in routes: /auth/login redirects a browser to the identity provider, /auth/callback completes the sign-in and
 * creates a session, /auth/logout ends it. Outcomes are shown as minimal pages.
 */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../lib/log.js";
import { type CookieJar, loadCookies } from "./cookies.js";
import { isFromOwnPage, readReturnTo } from "./own-origin.js";
import { sendPage } from "../common/plain-page.js";

/** The sign-in flow, as the routes need it. */
export type SignInPort = {
  begin(returnTo: string): Promise<{ url: string; note: string }>;
  finish(
    query: string,
    note: string | null,
  ): Promise<
    | { kind: "signed-in"; session: string; returnTo: string }
    | { kind: "refused"; message: string }
    | { kind: "failed"; cause: unknown }
  >;
  /** Ends the session; returns the provider's logout URL, or null when it has none. */
  leave(session: string, returnTo: string): Promise<string | null>;
};

export type SignInOptions = {
  port: SignInPort;
  cookies: CookieJar;
  /** Public URL of this deployment, without a trailing slash. */
  publicUrl: string;
  noteMs: number;
  sessionMs: number;
};

export type AuthRoutesOptions = SignInOptions & {
  /** Called after a sign-out: everything open with this session must end now. */
  onSignOut(session: string): void;
  log: Log;
};

const AFTER_SIGN_IN = "/graphql";

export function addAuthRoutes(app: FastifyInstance, options: AuthRoutesOptions): void {
  loadCookies(app);
  app.get<{ Querystring: { returnTo?: unknown } }>("/auth/login", (request, reply) =>
    beginSignIn(request.query.returnTo, reply, options),
  );
  app.get("/auth/callback", (request, reply) => finishSignIn(request, reply, options));

  // An encapsulated plugin: all other routes reject form bodies, so that no page can post a form to the API.
  void app.register(async (scope) => {
    // The form's fields are not used.
    scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, async () => null);
    scope.post("/auth/logout", (request, reply) => logOut(request, reply, options));
  });

  app.get("/auth/signed-out", (_request, reply) =>
    sendPage(reply, {
      status: 200,
      title: "You are signed out",
      text: "",
      link: { href: `${options.publicUrl}/auth/login`, text: "Sign in again" },
    }),
  );
}

async function beginSignIn(returnTo: unknown, reply: FastifyReply, options: AuthRoutesOptions) {
  const { cookies, publicUrl, port } = options;
  try {
    const { url, note } = await port.begin(readReturnTo(returnTo, publicUrl, AFTER_SIGN_IN));
    return await reply
      .header("set-cookie", cookies.set("sign_in", note, options.noteMs))
      .header("cache-control", "no-store")
      .redirect(url, 302);
  } catch (error) {
    return sendFailure(reply, error, options);
  }
}

async function finishSignIn(request: FastifyRequest, reply: FastifyReply, options: AuthRoutesOptions) {
  const { cookies, publicUrl, port } = options;
  const query = request.url.split("?").slice(1).join("?");
  const outcome = await port.finish(query, cookies.read("sign_in", request.headers.cookie));
  reply.header("set-cookie", cookies.clear("sign_in"));
  if (outcome.kind === "failed") return sendFailure(reply, outcome.cause, options);
  if (outcome.kind === "refused") {
    const link = { href: `${publicUrl}/auth/login`, text: "Sign in" };
    return sendPage(reply, { status: 403, title: "You are not signed in", text: outcome.message, link });
  }
  return reply
    .header("set-cookie", cookies.set("session", outcome.session, options.sessionMs))
    .header("cache-control", "no-store")
    .redirect(new URL(publicUrl).origin + outcome.returnTo, 302);
}

/** Logs the cause under a reference that the page shows. */
function sendFailure(reply: FastifyReply, cause: unknown, { publicUrl, log }: AuthRoutesOptions) {
  const reference = randomUUID();
  log.error({ err: cause, reference }, "sign-in failed");
  return sendPage(reply, {
    status: 502,
    title: "Signing in does not work at the moment",
    text: `The identity provider cannot be reached or returned an invalid response. The server's log has details under ${reference}.`,
    link: { href: `${publicUrl}/auth/login`, text: "Try again" },
  });
}

/** Redirects forms; scripts that accept JSON get the location in the body. */
async function logOut(request: FastifyRequest, reply: FastifyReply, options: AuthRoutesOptions) {
  const { cookies, publicUrl, port, onSignOut } = options;
  const { origin, cookie, accept } = request.headers;
  const secFetchSite = request.headers["sec-fetch-site"]?.toString();
  if (!isFromOwnPage({ origin, secFetchSite }, new URL(publicUrl).origin)) {
    const text = "Only pages of this deployment can sign you out.";
    return sendPage(reply, { status: 403, title: "You were not signed out", text });
  }
  const session = cookies.read("session", cookie);
  const after = `${publicUrl}/auth/signed-out`;
  const location = (session === null ? null : await port.leave(session, after)) ?? after;
  if (session !== null) onSignOut(session);
  reply.header("set-cookie", cookies.clear("session")).header("cache-control", "no-store");
  if (accept?.includes("application/json")) return reply.send({ location });
  return reply.redirect(location, 303);
}
