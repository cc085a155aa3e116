/** Our cookies: what they are called, how they are set, and how they are read. */
import { fastifyCookie } from "@fastify/cookie";
import type { FastifyInstance } from "fastify";

const { parse, serialize } = fastifyCookie;

/** Before any cookie is read or set: the library loads its parser with the server. */
export function loadCookies(app: FastifyInstance): void {
  void app.register(fastifyCookie, { hook: false });
}

export type CookieJar = {
  /** A `Set-Cookie` header. */
  set(name: CookieName, value: string, maxAgeMs: number): string;
  clear(name: CookieName): string;
  /** Null when the header has none of this name. */
  read(name: CookieName, header: string | undefined): string | null;
};

/** `session`: who is signed in. `sign_in`: the note of a sign-in under way. */
export type CookieName = "session" | "sign_in";

/** `publicUrl`: where browsers reach us. Over https the prefix keeps siblings of our host from setting such a cookie. */
export function createCookieJar(publicUrl: string): CookieJar {
  const secure = publicUrl.startsWith("https:");
  const nameOf = (name: CookieName) => `${secure ? "__Host-" : ""}parley_${name}`;
  // Lax: the way back from the provider begins on its page, and must bring the note along.
  const attributes = { path: "/", httpOnly: true, sameSite: "lax" as const, secure };
  return {
    set: (name, value, maxAgeMs) =>
      serialize(nameOf(name), value, { ...attributes, maxAge: Math.floor(maxAgeMs / 1_000) }),
    clear: (name) => serialize(nameOf(name), "", { ...attributes, maxAge: 0 }),
    read: (name, header) => (header === undefined ? null : (parse(header)[nameOf(name)] ?? null)),
  };
}
