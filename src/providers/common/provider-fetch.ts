/** The `fetch` of a provider's settings as an option of SDK clients; absent, they use the global one. */
import type { ProviderSettings } from "../types.js";

type SdkFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export function providerFetch({ fetch: own }: Pick<ProviderSettings, "fetch">): { fetch?: SdkFetch } {
  if (own === undefined) return {};
  return { fetch: (input, init) => own(input instanceof Request ? input.url : input, init) };
}
