// Headless browser: follows no redirect by itself, stores cookies by host, and submits the forms of pages.

export type Shown = { status: number; text: string; location: string | null; headers: Headers };

export class FormBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  get(url: string, headers: Record<string, string> = {}): Promise<Shown> {
    return this.#send(url, { headers });
  }

  /** Submits the first form of the page that was served at `url`, with its hidden fields and these. */
  submit(url: string, page: Shown, fields: Record<string, string> = {}): Promise<Shown> {
    const action = /<form[^>]*action="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const hidden = [...page.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const values = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
    const body = new URLSearchParams({ ...values, ...fields });
    return this.#send(new URL(action, url).href, { method: "POST", body });
  }

  /** The cookies that it would send to that host. */
  cookiesOf(url: string): string {
    const cookies = this.#cookies.get(new URL(url).host) ?? new Map<string, string>();
    return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async #send(url: string, init: RequestInit): Promise<Shown> {
    const cookie = this.cookiesOf(url);
    const headers = { ...(cookie !== "" && { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    const cookies = this.#cookies.get(new URL(url).host) ?? new Map<string, string>();
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    this.#cookies.set(new URL(url).host, cookies);
    const text = await response.text();
    return {
      status: response.status,
      text,
      location: response.headers.get("location"),
      headers: response.headers,
    };
  }
}
