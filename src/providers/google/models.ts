/** Capabilities of Gemini models by their names. Unknown names count as the newest generation. Pure. */

/**
 * `gemini-2.5-pro` is 2.5. Undefined for names without a version: `gemini-flash-latest`, tuned models, other families.
 */
function generationOf(model: string): number | undefined {
  const [, generation] = /gemini-(\d+(?:\.\d+)?)/.exec(model) ?? [];
  return generation === undefined ? undefined : Number(generation);
}

/** Gemma has no thinking of Gemini's kind. */
const isGemini = (model: string): boolean => !/\bgemma/.test(model);

/** The kind of a model's thinking setting: a level since Gemini 3, a budget in 2.5, none before. */
export function thinkingStyle(model: string): "level" | "budget" | "none" {
  const generation = generationOf(model) ?? Infinity;
  if (!isGemini(model) || generation < 2.5) return "none";
  return generation < 3 ? "budget" : "level";
}

/** Since Gemini 3 the first call of each step must carry a signature, or the whole request is refused. */
export function demandsSignatures(model: string): boolean {
  return isGemini(model) && (generationOf(model) ?? Infinity) >= 3;
}

/** Older models refuse the vendor's search in a request that also has function declarations. */
export function searchesBesideTools(model: string): boolean {
  return (generationOf(model) ?? Infinity) >= 3;
}

/** Since Gemini 3 a function's response may contain files; before, they are sent beside it. */
export function takesFilesInResults(model: string): boolean {
  return isGemini(model) && (generationOf(model) ?? Infinity) >= 3;
}
