/** Addresses as users copy them from Azure's portal, and the URLs that are requested. */
import { expect, test } from "vitest";
import { azureBaseUrl } from "./azure-address.js";

test.each([
  ["https://acme.openai.azure.com", "https://acme.openai.azure.com/openai/v1"],
  ["https://acme.openai.azure.com/", "https://acme.openai.azure.com/openai/v1"],
  [" https://acme.openai.azure.com/openai/ ", "https://acme.openai.azure.com/openai/v1"],
  ["https://acme.openai.azure.com/openai/v1/", "https://acme.openai.azure.com/openai/v1"],
  [
    "https://acme.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2025-01-01-preview",
    "https://acme.openai.azure.com/openai/v1",
  ],
  ["https://acme.services.ai.azure.com", "https://acme.services.ai.azure.com/openai/v1"],
  ["https://gateway.example/team/openai/deployments/gpt", "https://gateway.example/team/openai/v1"],
  ["http://127.0.0.1:4000/v1", "http://127.0.0.1:4000/v1"],
  ["acme", "acme"],
  ["", ""],
])("%j is %j", (endpoint, address) => {
  expect(azureBaseUrl(endpoint)).toBe(address);
});
