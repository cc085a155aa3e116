/**
 * Authenticates the requests to an MCP server: adds the headers, and retries once with renewed ones after a 401. Renewed
 * headers are used from then on, and concurrent requests share one renewal.
 */
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import { McpForbidden, McpUnauthorized, type Fetch, type McpChallenge } from "./types.js";

type HeaderRecord = Readonly<Record<string, string>>;

export class Credentials {
  #headers: HeaderRecord;
  #renewal: Promise<HeaderRecord | null> | undefined;
  #refusal: McpUnauthorized | undefined;
  /** All values that were ever sent, since a server's messages may repeat them. */
  readonly #sent = new Set<string>();

  constructor(
    headers: HeaderRecord,
    private readonly renew: (rejected: HeaderRecord) => Promise<HeaderRecord | null>,
  ) {
    this.#headers = headers;
    this.#remember(headers);
  }

  /** Values to be redacted from messages. */
  get secrets(): ReadonlySet<string> {
    return this.#sent;
  }

  /** The 401 of the last response, when renewed headers did not help; the library may lose the error. */
  get refusal(): McpUnauthorized | undefined {
    return this.#refusal;
  }

  /** Like `base`, with the headers. Rejects with McpUnauthorized, or with McpForbidden when a scope is missing. */
  wrap(base: Fetch): Fetch {
    return async (url, init) => {
      const sent = this.#headers;
      const response = await base(url, withHeaders(init, sent));
      const renewed = response.status === 401 ? await this.#renewed(sent, response) : undefined;
      const final = renewed === undefined ? response : await base(url, withHeaders(init, renewed));
      if (final.status === 401) {
        this.#refusal = new McpUnauthorized(await challengeOf(final));
        throw this.#refusal;
      }
      this.#refusal = undefined;
      if (final.status !== 403) return final;
      const challenge = readChallenge(final);
      if (challenge.error !== "insufficient_scope") return final;
      await final.body?.cancel();
      throw new McpForbidden(challenge);
    };
  }

  /** Headers other than the rejected ones; undefined when there are none. */
  async #renewed(rejected: HeaderRecord, response: Response): Promise<HeaderRecord | undefined> {
    if (this.#headers === rejected) {
      this.#renewal ??= this.renew(rejected).finally(() => (this.#renewal = undefined));
      const renewed = await this.#renewal;
      if (renewed === null) return undefined;
      this.#headers = renewed;
      this.#remember(renewed);
    }
    await response.body?.cancel();
    return this.#headers;
  }

  #remember(headers: HeaderRecord): void {
    for (const value of Object.values(headers)) {
      this.#sent.add(value);
      // "Bearer abc": the second word alone is a secret too.
      for (const word of value.split(" ")) this.#sent.add(word);
    }
  }
}

/** Adds the headers to a request; the request's own take precedence. */
export function withHeaders(init: RequestInit | undefined, headers: HeaderRecord): RequestInit {
  const all = new Headers(init?.headers);
  for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
  return { ...init, headers: all };
}

async function challengeOf(response: Response): Promise<McpChallenge> {
  await response.body?.cancel();
  return readChallenge(response);
}

function readChallenge(response: Response): McpChallenge {
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scope, error };
}
