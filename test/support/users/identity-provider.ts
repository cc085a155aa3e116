// Identity provider for tests in its own process, and a headless browser: cookies, forms, redirects.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { testProgram } from "../build.js";
import { freePort } from "../network/free-port.js";

const root = resolve(import.meta.dirname, "../../..");

/** Claims by the name that users enter, which is their subject as well. */
export type ProviderUsers = Record<string, Record<string, unknown>>;

export type TestProvider = {
  issuer: string;
  /** Settings of a server that is reached at `publicUrl`. */
  settings: Record<string, string>;
  close(): Promise<void>;
};

export async function startIdentityProvider(
  publicUrl: string,
  users: ProviderUsers,
  accessTokenSeconds = 2,
): Promise<TestProvider> {
  const port = await freePort();
  const settings = {
    ...{ port, users, accessTokenSeconds, redirectUri: `${publicUrl}/auth/callback` },
    signedOutUri: `${publicUrl}/auth/signed-out`,
  };
  const child = spawn(process.execPath, [testProgram("identity-provider")], {
    cwd: root,
    env: { PATH: process.env["PATH"], SETTINGS: JSON.stringify(settings) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const gone = once(child, "exit");
  const listening = once(createInterface({ input: child.stdout }), "line");
  await Promise.race([
    listening,
    gone.then(() => Promise.reject(new Error("The identity provider has ended."))),
  ]);
  const issuer = `http://127.0.0.1:${port}`;
  return {
    issuer,
    settings: {
      PARLEY_PUBLIC_URL: publicUrl,
      PARLEY_OIDC_ISSUER: issuer,
      PARLEY_OIDC_CLIENT_ID: "parley",
      PARLEY_OIDC_CLIENT_SECRET: "the-secret-of-the-tests",
      PARLEY_OIDC_ROLE_CLAIM: "groups",
      PARLEY_OIDC_ADMIN_VALUES: "ops",
    },
    async close() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

const MOST_REDIRECTS = 20;
const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&quot;": '"', "&#39;": "'" };

export type Visited = { url: string; status: number; text: string };

/** Keeps cookies by host and port, follows redirects, fills in the first form of a page. */
export class WindowlessBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  get(url: string): Promise<Visited> {
    return this.#visit(url, { method: "GET" });
  }

  /** The cookies that a request to this address would carry, as a header. */
  cookiesFor(url: string): string {
    return [...(this.#cookies.get(new URL(url).host) ?? [])]
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  }

  /** Sends the page's form with its hidden fields and these. */
  submit({ url, text }: Visited, fields: Record<string, string> = {}): Promise<Visited> {
    const action = /<form[^>]*\baction="([^"]*)"/.exec(text)?.[1] ?? "";
    const hidden = [...text.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? "",
      /value="([^"]*)"/.exec(input)?.[1] ?? "",
    ]);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    const target = action.replace(/&(?:amp|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
    return this.post(new URL(target, url).href, body);
  }

  post(url: string, body: URLSearchParams): Promise<Visited> {
    return this.#visit(url, { method: "POST", body, headers: { origin: new URL(url).origin } });
  }

  async #visit(first: string, init: RequestInit): Promise<Visited> {
    let [url, request] = [first, init];
    for (let count = 0; count < MOST_REDIRECTS; count += 1) {
      const headers = { ...(request.headers as Record<string, string>), cookie: this.cookiesFor(url) };
      const response = await fetch(url, { ...request, headers, redirect: "manual" });
      this.#keep(url, response.headers.getSetCookie());
      const location = response.headers.get("location");
      if (location === null) return { url, status: response.status, text: await response.text() };
      [url, request] = [new URL(location, url).href, { method: "GET" }];
    }
    throw new Error(`Too many redirects from ${first}.`);
  }

  #keep(url: string, cookies: string[]): void {
    const { host } = new URL(url);
    const own = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, own);
    for (const cookie of cookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      const isGone = /max-age=0|expires=thu, 01 jan 1970/i.test(cookie);
      if (isGone) own.delete(name);
      else own.set(name, value);
    }
  }
}

/** Signs in on the provider's pages; returns the first page after them. */
export async function signIn(browser: WindowlessBrowser, publicUrl: string, login: string): Promise<Visited> {
  let page = await browser.get(`${publicUrl}/auth/login?returnTo=/healthz`);
  for (let count = 0; count < 3 && page.text.includes("<form"); count += 1) {
    page = await browser.submit(page, page.text.includes('name="login"') ? { login, password: "any" } : {});
  }
  return page;
}
