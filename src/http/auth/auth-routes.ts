/**
 * The doors of signing in: /auth/login sends a browser to the identity provider, /auth/callback takes it back and gives
 * it a session, /auth/logout ends that. Pages here are plain text that says what happened.
 */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../lib/log.js";
import { type CookieJar, loadCookies } from "./cookies.js";
import { isFromOwnPage, readReturnTo } from "./own-origin.js";
import { sendPage } from "../common/plain-page.js";

/** What a door needs of those who sign people in. */
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
  /** Where to sign out of the provider too; null when there is no such place. */
  leave(session: string, returnTo: string): Promise<string | null>;
};

export type SignInDoor = {
  port: SignInPort;
  cookies: CookieJar;
  /** Where browsers reach this deployment, without a slash at the end. */
  publicUrl: string;
  noteMs: number;
  sessionMs: number;
};

export type AuthRoutesOptions = SignInDoor & {
  /** Somebody has left with this session: what is open with it ends now. */
  onLeave(session: string): void;
  log: Log;
};

const AFTER_SIGN_IN = "/graphql";

export function addAuthRoutes(app: FastifyInstance, options: AuthRoutesOptions): void {
  const { cookies, publicUrl, port, log } = options;
  loadCookies(app);
  const fail = (reply: FastifyReply, cause: unknown) => {
    const reference = randomUUID();
    log.error({ err: cause, reference }, "A sign-in failed");
    return sendPage(reply, {
      status: 502,
      title: "Signing in does not work at the moment",
      text: `The identity provider could not be asked, or its answer was not good. The server's log says more under ${reference}.`,
      link: { href: `${publicUrl}/auth/login`, text: "Try again" },
    });
  };

  app.get<{ Querystring: { returnTo?: unknown } }>("/auth/login", async (request, reply) => {
    try {
      const { url, note } = await port.begin(readReturnTo(request.query.returnTo, publicUrl, AFTER_SIGN_IN));
      return await reply
        .header("set-cookie", cookies.set("sign_in", note, options.noteMs))
        .header("cache-control", "no-store")
        .redirect(url, 302);
    } catch (error) {
      return fail(reply, error);
    }
  });

  app.get("/auth/callback", async (request, reply) => {
    const query = request.url.split("?").slice(1).join("?");
    const outcome = await port.finish(query, cookies.read("sign_in", request.headers.cookie));
    reply.header("set-cookie", cookies.clear("sign_in"));
    if (outcome.kind === "failed") return fail(reply, outcome.cause);
    if (outcome.kind === "refused") {
      const link = { href: `${publicUrl}/auth/login`, text: "Sign in" };
      return sendPage(reply, { status: 403, title: "You are not signed in", text: outcome.message, link });
    }
    return reply
      .header("set-cookie", cookies.set("session", outcome.session, options.sessionMs))
      .header("cache-control", "no-store")
      .redirect(new URL(publicUrl).origin + outcome.returnTo, 302);
  });

  // Within a room of its own: elsewhere a form's body stays unreadable, so that no page can send one to the API.
  void app.register(async (door) => {
    // What a form brings along is not looked at.
    door.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, async () => null);
    door.post("/auth/logout", (request, reply) => logOut(request, reply, options));
  });

  app.get("/auth/signed-out", (_request, reply) =>
    sendPage(reply, {
      status: 200,
      title: "You are signed out",
      text: "",
      link: { href: `${publicUrl}/auth/login`, text: "Sign in again" },
    }),
  );
}

/** For forms, which follow where they are sent, and for scripts, which are told where to go. */
async function logOut(request: FastifyRequest, reply: FastifyReply, options: AuthRoutesOptions) {
  const { cookies, publicUrl, port, onLeave } = options;
  const { origin, cookie, accept } = request.headers;
  const secFetchSite = request.headers["sec-fetch-site"]?.toString();
  if (!isFromOwnPage({ origin, secFetchSite }, new URL(publicUrl).origin)) {
    const text = "Only pages of this deployment can sign you out.";
    return sendPage(reply, { status: 403, title: "Nothing was done", text });
  }
  const session = cookies.read("session", cookie);
  const after = `${publicUrl}/auth/signed-out`;
  const location = (session === null ? null : await port.leave(session, after)) ?? after;
  if (session !== null) onLeave(session);
  reply.header("set-cookie", cookies.clear("session")).header("cache-control", "no-store");
  if (accept?.includes("application/json")) return reply.send({ location });
  return reply.redirect(location, 303);
}
