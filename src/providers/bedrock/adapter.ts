/**
 * Claude on Amazon Bedrock through Anthropic's SDK for it, which speaks Bedrock's InvokeModel API over plain HTTPS.
 *
 * Credentials: `settings.apiKey` is a Bedrock API key; empty means AWS's default chain of credentials (environment,
 * shared files, the machine's or container's role), which the AWS SDK resolves and signs each request with.
 *
 * Region: the model's option `region`; else the one in the host of `settings.baseUrl` (its public, FIPS, VPC and
 * dual-stack names all carry it); else the one in the model's ARN. Without a `baseUrl` the region's public endpoint
 * is called. Behind a `baseUrl` that names no region an API key needs none, but a signature does.
 */
import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import { ModelCallError } from "../../domain/common/failures.js";
import { betaHeader } from "../anthropic/options.js";
import { buildAnthropicRequest } from "../anthropic/prompt.js";
import { createAnthropicReader } from "../anthropic/stream.js";
import { listBedrockModels } from "./models.js";
import { bedrockOptionsSchema } from "./options.js";
import { runModelCall } from "../common/model-call.js";
import { parseOptions } from "../common/options.js";
import { providerFetch } from "../common/provider-fetch.js";
import type { ModelProvider, ProviderSettings } from "../types.js";
import type { StreamLimits } from "../common/watchdog.js";

/** Accepted for all models: the SDK's own default is refused for models up to the 4.6 generation. */
const API_VERSION = "bedrock-2023-05-31";

/** Reads nothing from the environment, except through AWS's own chain; never retries. See `ModelProvider`. */
export function createBedrockProvider(settings: ProviderSettings, limits: StreamLimits): ModelProvider {
  return {
    stream: (request, signal) =>
      runModelCall({ settings, limits, signal }, () => {
        const options = parseOptions(bedrockOptionsSchema, request.options, settings);
        const region = options.region ?? regionInAddress(settings.baseUrl) ?? regionInArn(request.model);
        // A client for each call, as calls may differ in their region; it has no connections or credentials of its own.
        const client = createClient(settings, region);
        const body = {
          anthropic_version: API_VERSION,
          ...buildAnthropicRequest(request, options, false),
        };
        const headers = { ...request.headers, ...betaHeader(options) };
        const open = (callSignal: AbortSignal) =>
          client.messages.create(body, { signal: callSignal, headers });
        return { open, reader: createAnthropicReader() };
      }),

    /** Bedrock's lists of models do not contain it. */
    findContextLimit: () => Promise.resolve(null),

    /** Null without a base URL, as the region is unknown then. */
    async listModels(signal: AbortSignal) {
      if (settings.baseUrl === undefined) return null;
      return listBedrockModels({ settings, address: settings.baseUrl, signal, nowMs: limits.clock.now() });
    },
  };
}

/** The region in the host of an endpoint of Bedrock's; undefined for every other address. */
export function regionInAddress(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { hostname } = new URL(address);
  if (!/\.(amazonaws\.com(\.cn)?|api\.aws)$/.test(hostname)) return undefined;
  return /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(hostname)?.[1];
}

/** `arn:aws:bedrock:REGION:…`, as inference profiles and provisioned models are named; undefined for plain names. */
export function regionInArn(model: string): string | undefined {
  return /^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):/.exec(model)?.[1];
}

function createClient(settings: ProviderSettings, region: string | undefined): AnthropicBedrock {
  const isSigned = settings.apiKey === "";
  if (region === undefined && (isSigned || settings.baseUrl === undefined))
    throw missingRegionError(settings);
  return new AnthropicBedrock({
    // Null, unlike undefined, keeps the SDK from looking for a key in the environment.
    apiKey: isSigned ? null : settings.apiKey,
    awsRegion: region ?? "",
    webhookKey: null,
    baseURL: settings.baseUrl?.replace(/\/+$/, "") ?? publicEndpoint(region ?? ""),
    maxRetries: 0,
    logLevel: "off",
    openTelemetry: false,
    ...providerFetch(settings),
  });
}

function publicEndpoint(region: string): string {
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${suffix}`;
}

function missingRegionError({ displayName, kind }: ProviderSettings): ModelCallError {
  const message = `${displayName} cannot be called without an AWS region. Set the model's option \`region\` or a base URL that names one.`;
  return new ModelCallError({ kind: "config", message, provider: kind, isRetryable: false }, undefined);
}
