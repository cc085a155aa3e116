/**
 * What an admin may make of a model: from how it was and what is asked to how it will be, or everything that is wrong
 * with it. Whether a model may be the default is decided here too. Pure.
 */
import type { ModelProviderKind } from "../common/failures.js";
import type { JsonObject, JsonValue } from "../common/json.js";
import { findKnownModel, knownPricing } from "./known-models.js";
import { type Note, type Problem, readPlainText } from "../mcp/field-rules.js";
import type { ModelPricing } from "../usage/money.js";

/** What admins decide of a model. Units as in the store's record of it. */
export type ModelSetup = {
  model: string;
  displayName: string;
  contextLimit: number | null;
  compactionThresholdPercent: number;
  maxOutputTokens: number | null;
  providerOptions: JsonObject;
  pricing: ModelPricing | null;
  isEnabled: boolean;
};

/** Absent keeps what is there, or leaves a new model's default; null clears, which not all of them bear. */
export type ModelChange = {
  displayName?: string | null | undefined;
  /** Null = nobody says. */
  contextLimit?: number | null | undefined;
  compactionThresholdPercent?: number | null | undefined;
  /** Null = Parley's default. */
  maxOutputTokens?: number | null | undefined;
  /** Null = none. */
  providerOptions?: JsonValue | undefined;
  /** Null = unpriced. */
  pricing?: ModelPricing | null | undefined;
  isEnabled?: boolean | null | undefined;
  isDefault?: boolean | null | undefined;
};

/** A model's own id is given once and for all: what was said and spent stands with it. */
export type NewModel = ModelChange & { model: string; displayName: string };

/** What the provider's adapter makes of call options: nothing, or what is wrong with them, each at its place. */
export type ValidateOptions = (options: JsonObject) => Problem[];

export type ModelPlan = { ok: true; setup: ModelSetup } | { ok: false; problems: Problem[] };

const NEVER_CLEARED = [
  "displayName",
  "compactionThresholdPercent",
  "isEnabled",
  "isDefault",
] as const satisfies readonly (keyof ModelChange)[];

const MAX_NAME_CHARACTERS = 100;
/** ARNs of inference profiles are the longest. */
const MAX_MODEL_CHARACTERS = 512;
/** Fifty times what any model holds today. */
const MAX_CONTEXT_TOKENS = 100_000_000;
/** As JSON. They go with every call. */
const MAX_OPTIONS_CHARACTERS = 16_384;
const USUAL_THRESHOLD_PERCENT = 70;

/** What is left out of context and prices comes from the table of known models. */
export function planNewModel(kind: ModelProviderKind, wanted: NewModel, judge: ValidateOptions): ModelPlan {
  const problems: Problem[] = [];
  const model = readPlainText(wanted.model, { min: 1, max: MAX_MODEL_CHARACTERS }, (message) =>
    problems.push({ message, path: ["model"] }),
  );
  if (/\s/.test(model))
    problems.push({ message: "A vendor's id of a model has no blanks.", path: ["model"] });
  const blank: ModelSetup = {
    model,
    displayName: "",
    contextLimit: findKnownModel(model)?.contextLimit ?? null,
    compactionThresholdPercent: USUAL_THRESHOLD_PERCENT,
    maxOutputTokens: null,
    providerOptions: {},
    pricing: knownPricing(kind, model),
    isEnabled: true,
  };
  return plan(blank, wanted, { judge, problems });
}

export function planModelChange(before: ModelSetup, change: ModelChange, judge: ValidateOptions): ModelPlan {
  return plan(before, change, { judge, problems: [] });
}

function plan(
  old: ModelSetup,
  change: ModelChange,
  { judge, problems }: { judge: ValidateOptions; problems: Problem[] },
): ModelPlan {
  const note: Note = (message, ...path) => problems.push({ message, path });
  for (const field of NEVER_CLEARED) {
    if (change[field] === null) note("This cannot be cleared. Leave it out to keep it.", field);
  }
  const { displayName } = change;
  const name = { min: 1, max: MAX_NAME_CHARACTERS };
  const setup: ModelSetup = {
    model: old.model,
    displayName:
      displayName == null
        ? old.displayName
        : readPlainText(displayName, name, (it) => note(it, "displayName")),
    contextLimit: change.contextLimit === undefined ? old.contextLimit : change.contextLimit,
    compactionThresholdPercent: change.compactionThresholdPercent ?? old.compactionThresholdPercent,
    maxOutputTokens: change.maxOutputTokens === undefined ? old.maxOutputTokens : change.maxOutputTokens,
    providerOptions: readOptions(old, change.providerOptions, { judge, note }),
    pricing: change.pricing === undefined ? old.pricing : change.pricing,
    isEnabled: change.isEnabled ?? old.isEnabled,
  };
  noteNumbers(setup, change, note);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, setup };
}

function noteNumbers(setup: ModelSetup, change: ModelChange, note: Note): void {
  const { contextLimit, maxOutputTokens, compactionThresholdPercent: threshold } = setup;
  const isCount = (tokens: number) =>
    Number.isSafeInteger(tokens) && tokens > 0 && tokens <= MAX_CONTEXT_TOKENS;
  const rule = `It is a number of tokens: 1 to ${MAX_CONTEXT_TOKENS.toLocaleString("en")}.`;
  if (contextLimit !== null && !isCount(contextLimit)) note(rule, "contextLimit");
  if (maxOutputTokens !== null && !isCount(maxOutputTokens)) note(rule, "maxOutputTokens");
  else if (
    maxOutputTokens !== null &&
    contextLimit !== null &&
    isCount(contextLimit) &&
    maxOutputTokens >= contextLimit
  ) {
    const field = change.maxOutputTokens === undefined ? "contextLimit" : "maxOutputTokens";
    note("An answer as long as the whole context leaves no room for the question.", field);
  }
  if (!Number.isInteger(threshold) || threshold < 0 || threshold > 100) {
    note("It is a whole number of percent: 0 to 100, which never summarises.", "compactionThresholdPercent");
  }
}

/** Options that are kept are not judged anew: only their adapter knows what it took when they were given. */
function readOptions(
  { providerOptions: old }: ModelSetup,
  given: JsonValue | undefined,
  { judge, note }: { judge: ValidateOptions; note: Note },
): JsonObject {
  if (given === undefined) return old;
  if (given === null) return {};
  if (typeof given !== "object" || Array.isArray(given)) {
    note("Options are an object of names and values.", "providerOptions");
    return old;
  }
  if (JSON.stringify(given).length > MAX_OPTIONS_CHARACTERS) {
    const length = MAX_OPTIONS_CHARACTERS.toLocaleString("en");
    note(`Options have at most ${length} characters as JSON.`, "providerOptions");
    return old;
  }
  for (const { message, path } of judge(given)) note(message, "providerOptions", ...path);
  return given;
}

/** Who stands where when a model is made, changed or deleted. */
export type DefaultFacts = {
  /** It is the default now. */
  isDefault: boolean;
  /** What is asked; absent = nothing. */
  wanted: boolean | undefined;
  /** As it will be. */
  isEnabled: boolean;
  isProviderEnabled: boolean;
};

export type DefaultPlan = { ok: true; becomesDefault: boolean } | { ok: false; problem: Problem };

/**
 * Whether the model becomes the default, or why what is asked leaves the deployment without one that can be used. The
 * default never moves by itself: nobody should pay for a model that they did not choose.
 */
export function planDefault(facts: DefaultFacts): DefaultPlan {
  const { isDefault, wanted, isEnabled, isProviderEnabled } = facts;
  const refuse = (message: string, field: string): DefaultPlan => ({
    ok: false,
    problem: { message, path: [field] },
  });
  if (isDefault && wanted === false) {
    return refuse("There must be a default. Make another model the default instead.", "isDefault");
  }
  if (isDefault && !isEnabled) {
    return refuse("This is the default model. Make another one the default first.", "isEnabled");
  }
  if (wanted !== true || isDefault) return { ok: true, becomesDefault: false };
  if (!isEnabled) return refuse("The default model must be enabled.", "isDefault");
  if (!isProviderEnabled) return refuse("The default model's provider must be enabled.", "isDefault");
  return { ok: true, becomesDefault: true };
}
