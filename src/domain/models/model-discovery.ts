/** Model discovery: a provider's own list of models, or why it is unavailable. Pure. */
import type { ChatFailure, FailureKind, ModelProviderKind } from "../common/failures.js";
import { findKnownModel, knownPricing } from "./known-models.js";
import type { ModelPricing } from "../usage/money.js";

/** `unsupported`: this kind of provider has no such list. */
const DISCOVERY_FAILURE_KINDS = [
  "unsupported",
  "missing_key",
  "unauthorized",
  "blocked",
  "timeout",
  "unreachable",
  "refused",
] as const;
export type DiscoveryFailureKind = (typeof DISCOVERY_FAILURE_KINDS)[number];

type DiscoveryFailure = { kind: DiscoveryFailureKind; message: string };

export type DiscoveredModel = {
  model: string;
  displayName: string;
  contextLimit: number | null;
  pricing: ModelPricing | null;
  /** Whether the provider already has a configuration of it. */
  isConfigured: boolean;
};

export type ModelDiscovery =
  { ok: true; models: DiscoveredModel[] } | { ok: false; failure: DiscoveryFailure };

/** Completes listed models from the table of known models; the list itself takes precedence. */
export function describeListed(
  listed: readonly { model: string; displayName: string | null; contextLimit: number | null }[],
  { kind, configured }: { kind: ModelProviderKind; configured: ReadonlySet<string> },
): DiscoveredModel[] {
  return listed.map(({ model, displayName, contextLimit }) => ({
    model,
    displayName: displayName ?? model,
    contextLimit: contextLimit ?? findKnownModel(model)?.contextLimit ?? null,
    pricing: knownPricing(kind, model),
    isConfigured: configured.has(model),
  }));
}

/** How far a request got: `blocked` by the egress guard, `silent` without an answer, else `answered`. */
type RequestProgress = "blocked" | "silent" | "answered";

/** The failure of a discovery request, worded for the admin who set up the provider. */
export function discoveryFailure(failure: ChatFailure, progress: RequestProgress): DiscoveryFailure {
  const { message, detail = "" } = failure;
  const known = progress === "blocked" ? "blocked" : KINDS[failure.kind];
  const kind = known ?? (progress === "silent" ? "unreachable" : "refused");
  return { kind, message: message.includes(detail) ? message : `${message} ${detail}` };
}

const KINDS: Partial<Record<FailureKind, DiscoveryFailureKind>> = {
  missing_key: "missing_key",
  auth: "unauthorized",
};
