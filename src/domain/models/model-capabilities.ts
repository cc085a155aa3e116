/** Capabilities of models, by provider kind, model name and options. Unknown names are assumed capable. Pure. */
import type { ModelProviderKind } from "../common/failures.js";
import type { JsonObject } from "../common/json.js";

const MODEL_CAPABILITIES = ["reasoning", "images", "web_search", "computer_use"] as const;
export type ModelCapability = (typeof MODEL_CAPABILITIES)[number];

type CapableModel = { kind: ModelProviderKind; model: string; options: JsonObject };

/** Models without reasoning: Claude before 3.7, GPT before 5 except the o series, Gemini before 2.5. */
const NOT_REASONING =
  /claude-(?:2|instant|3-(?:5-)?(?:opus|sonnet|haiku)|3-5)|^gpt-(?:3|4)|gemini-(?:1|2\.0)|gemma/;
/** Models without image input: Claude before 3, the first GPT-4, GPT-3.5. */
const TEXT_ONLY = /claude-(?:2|instant)|^gpt-(?:3\.5|4(?:-0314|-0613)?$)/;

/** Models without PDF input: Claude before 3.5, GPT before 4o, and the first small reasoning models. */
const NO_DOCUMENTS =
  /claude-(?:2|instant|3-(?:opus|sonnet|haiku))|^gpt-(?:3\.5|4(?![o.]))|^o1-(?:mini|preview)|^o3-mini/;

/** The files that a model accepts natively, by its name. Unknown names are assumed capable. */
export function nativeFileSupport(model: string): { takesImages: boolean; takesPdfs: boolean } {
  return { takesImages: !TEXT_ONLY.test(model), takesPdfs: !NO_DOCUMENTS.test(model) };
}

/** The model's capabilities, in the order of the list. `computer_use` is not available yet. */
export function capabilitiesOf({ kind, model, options }: CapableModel): ModelCapability[] {
  const isCompatible = kind === "openai_compatible";
  const has: Record<ModelCapability, boolean> = {
    reasoning: !NOT_REASONING.test(model) && !(isCompatible && options["reasoningEffortStyle"] === "off"),
    images: !TEXT_ONLY.test(model) && !(isCompatible && options["acceptsImages"] === false),
    web_search: options["webSearch"] !== undefined,
    computer_use: false,
  };
  return MODEL_CAPABILITIES.filter((capability) => has[capability]);
}
