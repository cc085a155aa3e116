/** What a model can do in Parley, by its provider's kind, its name and its options. New and unknown names count as able. Pure. */
import type { ModelProviderKind } from "../common/failures.js";
import type { JsonObject } from "../common/json.js";

export const MODEL_CAPABILITIES = ["reasoning", "images", "web_search", "computer_use"] as const;
export type ModelCapability = (typeof MODEL_CAPABILITIES)[number];

export type CapableModel = { kind: ModelProviderKind; model: string; options: JsonObject };

/** Claude before 3.7, GPT before 5 but for the o series, and Gemini before 2.5 do not think before they speak. */
const NOT_REASONING =
  /claude-(?:2|instant|3-(?:5-)?(?:opus|sonnet|haiku)|3-5)|^gpt-(?:3|4)|gemini-(?:1|2\.0)|gemma/;
/** Words only: before Claude 3, GPT-4's first edition, GPT-3.5. */
const BLIND = /claude-(?:2|instant)|^gpt-(?:3\.5|4(?:-0314|-0613)?$)/;

/** Claude before 3.5, GPT before 4o, and the first small ones that think: pictures of pages at best, no documents. */
const NO_DOCUMENTS =
  /claude-(?:2|instant|3-(?:opus|sonnet|haiku))|^gpt-(?:3\.5|4(?![o.]))|^o1-(?:mini|preview)|^o3-mini/;

/** Which files a model takes as they are, by its name. New and unknown names count as able. */
export function filesTakenBy(model: string): { takesImages: boolean; takesPdfs: boolean } {
  return { takesImages: !BLIND.test(model), takesPdfs: !NO_DOCUMENTS.test(model) };
}

/** In the order of the list. Nothing offers a computer yet. */
export function capabilitiesOf({ kind, model, options }: CapableModel): ModelCapability[] {
  const isCompatible = kind === "openai_compatible";
  const able: Record<ModelCapability, boolean> = {
    reasoning: !NOT_REASONING.test(model) && !(isCompatible && options["reasoningEffortStyle"] === "off"),
    images: !BLIND.test(model) && !(isCompatible && options["acceptsImages"] === false),
    web_search: options["webSearch"] !== undefined,
    computer_use: false,
  };
  return MODEL_CAPABILITIES.filter((capability) => able[capability]);
}
