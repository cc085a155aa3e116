/** What a provider's own list of models told, or why it told nothing. Pure. */
import type { ChatFailure, FailureKind, ModelProviderKind } from "../common/failures.js";
import { findKnownModel, knownPricing } from "./known-models.js";
import type { ModelPricing } from "../usage/money.js";

/** `unsupported`: this kind of provider has no such list. `timeout`, `blocked` and the rest say what was in the way. */
export const DISCOVERY_FAILURE_KINDS = [
  "unsupported",
  "missing_key",
  "unauthorized",
  "blocked",
  "timeout",
  "unreachable",
  "refused",
] as const;
export type DiscoveryFailureKind = (typeof DISCOVERY_FAILURE_KINDS)[number];

export type DiscoveryFailure = { kind: DiscoveryFailureKind; message: string };

export type DiscoveredModel = {
  model: string;
  displayName: string;
  contextLimit: number | null;
  pricing: ModelPricing | null;
  /** There is a configuration of it at this provider already. */
  isConfigured: boolean;
};

export type ModelDiscovery =
  { ok: true; models: DiscoveredModel[] } | { ok: false; failure: DiscoveryFailure };

/** What the list itself says counts; the table of known models fills in what it leaves out. */
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

/** How far a question came: `blocked` by the guard, `silent` when no answer came, else `answered`. */
export type QuestionFate = "blocked" | "silent" | "answered";

/** A failed question, as whoever set the provider up reads it. */
export function discoveryFailure(failure: ChatFailure, fate: QuestionFate): DiscoveryFailure {
  const { message, detail = "" } = failure;
  const known = fate === "blocked" ? "blocked" : KINDS[failure.kind];
  const kind = known ?? (fate === "silent" ? "unreachable" : "refused");
  return { kind, message: message.includes(detail) ? message : `${message} ${detail}` };
}

const KINDS: Partial<Record<FailureKind, DiscoveryFailureKind>> = {
  missing_key: "missing_key",
  auth: "unauthorized",
};
