/**
 * What a server is shown of who asks: every request carries the headers, and one that is answered 401 is made once more
 * with renewed ones. Renewed headers serve the requests that follow, and one renewal serves all that wait for it.
 */
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import { McpForbidden, McpUnauthorized, type Fetch, type McpChallenge } from "./types.js";

type HeaderRecord = Readonly<Record<string, string>>;

export class Credentials {
  #headers: HeaderRecord;
  #renewal: Promise<HeaderRecord | null> | undefined;
  #refusal: McpUnauthorized | undefined;
  /** All that were ever shown: what a server says may repeat them. */
  readonly #shown = new Set<string>();

  constructor(
    headers: HeaderRecord,
    private readonly renew: (rejected: HeaderRecord) => Promise<HeaderRecord | null>,
  ) {
    this.#headers = headers;
    this.#remember(headers);
  }

  /** Values that no message may show. */
  get secrets(): ReadonlySet<string> {
    return this.#shown;
  }

  /** The last 401 that renewed headers could not mend, if the last answer was one: the library may lose the error. */
  get refusal(): McpUnauthorized | undefined {
    return this.#refusal;
  }

  /** As `base`, with the headers. Rejects with McpUnauthorized, or McpForbidden when the authorisation is too narrow. */
  wrap(base: Fetch): Fetch {
    return async (url, init) => {
      const shown = this.#headers;
      const response = await base(url, withHeaders(init, shown));
      const second = response.status === 401 ? await this.#again(shown, response) : undefined;
      const final = second === undefined ? response : await base(url, withHeaders(init, second));
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

  /** Others than those that were refused; undefined when there are none. */
  async #again(rejected: HeaderRecord, response: Response): Promise<HeaderRecord | undefined> {
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
      this.#shown.add(value);
      // "Bearer abc": the second word is the secret, also alone.
      for (const word of value.split(" ")) this.#shown.add(word);
    }
  }
}

/** A request that carries these too; the protocol's own win. */
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
