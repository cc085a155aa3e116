/** The way out that a provider's settings give, as the SDKs take it; without one they use the platform's. */
import type { ProviderSettings } from "../types.js";

type SdkFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** For an SDK client's options. */
export function providerFetch({ fetch: own }: Pick<ProviderSettings, "fetch">): { fetch?: SdkFetch } {
  if (own === undefined) return {};
  return { fetch: (input, init) => own(input instanceof Request ? input.url : input, init) };
}
