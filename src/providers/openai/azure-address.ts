/** Base URL of an Azure OpenAI resource for OpenAI's formats. Pure. */

/**
 * The address of the resource's v1 API, which takes the deployment as the model: from the endpoint as the portal shows
 * it (`https://NAME.openai.azure.com/`), from a deployment's "target URI", or from the v1 address itself. A gateway's
 * path before `/openai` stays, and so does a gateway's address that ends with `/v1`. What is no URL comes back as it
 * is, so that the first call names it.
 */
export function azureBaseUrl(endpoint: string): string {
  const text = endpoint.trim();
  if (!URL.canParse(text)) return text;
  const { origin, pathname } = new URL(text);
  const path = pathname.replace(/\/+$/, "");
  if (path.endsWith("/v1") && !path.includes("/openai")) return `${origin}${path}`;
  return `${origin}${path.replace(/\/openai(\/.*)?$/, "")}/openai/v1`;
}
