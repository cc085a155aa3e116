/** Names, attributes and parsing of Parley's cookies. */
import { fastifyCookie } from "@fastify/cookie";
import type { FastifyInstance } from "fastify";

const { parse, serialize } = fastifyCookie;

/** Registers the cookie plugin; call it before any cookie is read or set. */
export function loadCookies(app: FastifyInstance): void {
  void app.register(fastifyCookie, { hook: false });
}

export type CookieJar = {
  /** A `Set-Cookie` header. */
  set(name: CookieName, value: string, maxAgeMs: number): string;
  clear(name: CookieName): string;
  /** Null when the header has no cookie of this name. */
  read(name: CookieName, header: string | undefined): string | null;
};

/** `session`: the signed-in session. `sign_in`: the state of a sign-in in progress. */
export type CookieName = "session" | "sign_in";

/** `publicUrl`: as browsers reach this deployment. Over https, the prefix prevents sibling hosts from setting the cookie. */
export function createCookieJar(publicUrl: string): CookieJar {
  const secure = publicUrl.startsWith("https:");
  const nameOf = (name: CookieName) => `${secure ? "__Host-" : ""}parley_${name}`;
  // Lax: the redirect back from the provider is cross-site, and must send the sign-in state.
  const attributes = { path: "/", httpOnly: true, sameSite: "lax" as const, secure };
  return {
    set: (name, value, maxAgeMs) =>
      serialize(nameOf(name), value, { ...attributes, maxAge: Math.floor(maxAgeMs / 1_000) }),
    clear: (name) => serialize(nameOf(name), "", { ...attributes, maxAge: 0 }),
    read: (name, header) => (header === undefined ? null : (parse(header)[nameOf(name)] ?? null)),
  };
}
