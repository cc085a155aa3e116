/**
 * Validation of new and changed model configurations: from the current setup and a change to the new setup, or all
 * problems. Also decides whether a model may become the default. Pure.
 */
import type { ModelProviderKind } from "../common/failures.js";
import type { JsonObject, JsonValue } from "../common/json.js";
import { findKnownModel, knownPricing } from "./known-models.js";
import { type Note, type Problem, readPlainText } from "../mcp/field-rules.js";
import type { ModelPricing } from "../usage/money.js";

/** The settings of a model that admins control. Units as in the store's record. */
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

/** Absent keeps the value, or a new model's default; null clears it, which not all fields allow. */
export type ModelChange = {
  displayName?: string | null | undefined;
  /** Null = unknown. */
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

/** The vendor's model id never changes: messages and costs refer to it. */
export type NewModel = ModelChange & { model: string; displayName: string };

/** The adapter's validation of call options; each problem's path begins within the options. */
export type ValidateOptions = (options: JsonObject) => Problem[];

type ModelPlan = { ok: true; setup: ModelSetup } | { ok: false; problems: Problem[] };

const NEVER_CLEARED = [
  "displayName",
  "compactionThresholdPercent",
  "isEnabled",
  "isDefault",
] as const satisfies readonly (keyof ModelChange)[];

const MAX_NAME_CHARACTERS = 100;
/** ARNs of inference profiles are the longest. */
const MAX_MODEL_CHARACTERS = 512;
/** Fifty times the largest context of today. */
const MAX_CONTEXT_TOKENS = 100_000_000;
/** As JSON. Options are sent with every call. */
const MAX_OPTIONS_CHARACTERS = 16_384;
const DEFAULT_THRESHOLD_PERCENT = 70;

/** Plans a new model; context limit and prices default to the table of known models. */
export function planNewModel(kind: ModelProviderKind, input: NewModel, validate: ValidateOptions): ModelPlan {
  const problems: Problem[] = [];
  const model = readPlainText(input.model, { min: 1, max: MAX_MODEL_CHARACTERS }, (message) =>
    problems.push({ message, path: ["model"] }),
  );
  if (/\s/.test(model)) problems.push({ message: "A model id must not contain spaces.", path: ["model"] });
  const blank: ModelSetup = {
    model,
    displayName: "",
    contextLimit: findKnownModel(model)?.contextLimit ?? null,
    compactionThresholdPercent: DEFAULT_THRESHOLD_PERCENT,
    maxOutputTokens: null,
    providerOptions: {},
    pricing: knownPricing(kind, model),
    isEnabled: true,
  };
  return plan(blank, input, { validate, problems });
}

export function planModelChange(
  before: ModelSetup,
  change: ModelChange,
  validate: ValidateOptions,
): ModelPlan {
  return plan(before, change, { validate, problems: [] });
}

function plan(
  old: ModelSetup,
  change: ModelChange,
  { validate, problems }: { validate: ValidateOptions; problems: Problem[] },
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
    providerOptions: readOptions(old, change.providerOptions, { validate, note }),
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
  const rule = `It must be a number of tokens from 1 to ${MAX_CONTEXT_TOKENS.toLocaleString("en")}.`;
  if (contextLimit !== null && !isCount(contextLimit)) note(rule, "contextLimit");
  if (maxOutputTokens !== null && !isCount(maxOutputTokens)) note(rule, "maxOutputTokens");
  else if (
    maxOutputTokens !== null &&
    contextLimit !== null &&
    isCount(contextLimit) &&
    maxOutputTokens >= contextLimit
  ) {
    const field = change.maxOutputTokens === undefined ? "contextLimit" : "maxOutputTokens";
    note(
      "The output limit must be smaller than the context limit, or no tokens are left for the prompt.",
      field,
    );
  }
  if (!Number.isInteger(threshold) || threshold < 0 || threshold > 100) {
    note("It must be a whole percentage from 0 to 100; 100 never compacts.", "compactionThresholdPercent");
  }
}

/** Unchanged options are not validated again: only the adapter of their time knows what it accepted. */
function readOptions(
  { providerOptions: old }: ModelSetup,
  value: JsonValue | undefined,
  { validate, note }: { validate: ValidateOptions; note: Note },
): JsonObject {
  if (value === undefined) return old;
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    note("Options are an object of names and values.", "providerOptions");
    return old;
  }
  if (JSON.stringify(value).length > MAX_OPTIONS_CHARACTERS) {
    const length = MAX_OPTIONS_CHARACTERS.toLocaleString("en");
    note(`Options may have at most ${length} characters as JSON.`, "providerOptions");
    return old;
  }
  for (const { message, path } of validate(value)) note(message, "providerOptions", ...path);
  return value;
}

/** State of a model and its provider, as far as the default is concerned. */
type DefaultFacts = {
  /** Whether it is the default now. */
  isDefault: boolean;
  /** The requested value; undefined = no request. */
  wanted: boolean | undefined;
  /** After the change. */
  isEnabled: boolean;
  isProviderEnabled: boolean;
};

type DefaultPlan = { ok: true; becomesDefault: boolean } | { ok: false; problem: Problem };

/**
 * Whether the model becomes the default, or why the request would leave the deployment without a usable default. The
 * default never changes automatically, since it decides what users pay for.
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
