/**
 * Schema of the requests that we send to Gemini's generateContent, from its documentation and its SDK's types. Unknown
 * keys are errors, and so is what the vendor refuses although its types allow it.
 */
import { z } from "zod";

const wellFormed = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "half a character");
const words = wellFormed.regex(/\S/, "blank text says nothing");
const signature = z.string().min(1);
const name = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/);
const object = z.record(wellFormed, z.json());

const text = z.strictObject({ text: words });
/** A signature may be attached to an empty text. */
const signedText = z.strictObject({
  text: wellFormed,
  thought: z.literal(true).optional(),
  thoughtSignature: signature,
});
const inlineData = z.strictObject({
  inlineData: z.strictObject({
    mimeType: z.enum(["image/png", "image/jpeg", "image/webp", "application/pdf", "audio/mpeg", "video/mp4"]),
    data: z.base64().min(1),
  }),
});
/** Allowed content of a function's response, in models that accept files there. */
const inlineResult = z.strictObject({
  inlineData: z.strictObject({
    mimeType: z.enum(["image/png", "image/jpeg", "image/webp", "application/pdf"]),
    data: z.base64().min(1),
  }),
});
const functionCall = z.strictObject({
  functionCall: z.strictObject({ id: z.string().min(1), name, args: object }),
  thoughtSignature: signature.optional(),
});
const functionResponse = z.strictObject({
  functionResponse: z.strictObject({
    id: z.string().min(1),
    name,
    response: z.union([
      z.strictObject({ output: z.json(), files: z.array(words).min(1).optional() }),
      object.refine((it) => "error" in it),
    ]),
    parts: z.array(inlineResult).min(1).optional(),
  }),
});
const search = { toolType: z.literal("GOOGLE_SEARCH_WEB"), id: z.string().min(1) };
const toolCall = z.strictObject({
  toolCall: z.strictObject({ ...search, args: object }),
  thoughtSignature: signature.optional(),
});
const toolResponse = z.strictObject({
  toolResponse: z.strictObject({ ...search, response: object }),
  thoughtSignature: signature.optional(),
});

const userContent = z.strictObject({
  role: z.literal("user"),
  parts: z.array(z.union([text, inlineData, functionResponse])).min(1),
});
const modelContent = z.strictObject({
  role: z.literal("model"),
  parts: z.array(z.union([text, signedText, functionCall, toolCall, toolResponse])).min(1),
});
const content = z.discriminatedUnion("role", [userContent, modelContent]);
type Content = z.infer<typeof content>;

const thinkingConfig = z
  .strictObject({
    thinkingLevel: z.enum(["MINIMAL", "LOW", "MEDIUM", "HIGH"]).optional(),
    thinkingBudget: z.int().min(-1).max(32_768).optional(),
    includeThoughts: z.boolean().optional(),
  })
  .refine(
    (it) => it.thinkingLevel === undefined || it.thinkingBudget === undefined,
    "level or budget, not both",
  );
const generationConfig = z.strictObject({
  maxOutputTokens: z.int().positive(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().positive().optional(),
  thinkingConfig: thinkingConfig.optional(),
});
const functions = z.strictObject({
  functionDeclarations: z
    .array(
      z.strictObject({
        name,
        description: z.string().min(1),
        parametersJsonSchema: z.looseObject({ type: z.literal("object") }),
      }),
    )
    .min(1),
});
const googleSearch = z.strictObject({ googleSearch: z.strictObject({}) });

/** The turn after a model's calls answers each of them once, and nothing else. */
function answersMatch(contents: Content[]): boolean {
  return contents.every((turn, index) => {
    const before = contents[index - 1];
    const answers = turn.parts.flatMap((part) => ("functionResponse" in part ? [part.functionResponse] : []));
    const calls = (before?.parts ?? []).flatMap((part) =>
      "functionCall" in part ? [part.functionCall] : [],
    );
    const names = (list: { id: string; name: string }[]) => list.map((it) => `${it.id} ${it.name}`).join();
    return names(answers) === names(calls);
  });
}

function alternate(contents: Content[]): boolean {
  return contents.every(({ role }, index) => role === (index % 2 === 0 ? "user" : "model"));
}

/** Since Gemini 3: the first call of each step is signed. */
function firstCallsAreSigned(contents: Content[]): boolean {
  return contents.every(({ parts }) => {
    const first = parts.find((part) => "functionCall" in part);
    return first === undefined || "thoughtSignature" in first;
  });
}

const contents = z
  .array(content)
  .min(1)
  .refine(alternate, "turns alternate and begin with the user's")
  .refine((list) => list.at(-1)?.role === "user", "the last turn is the user's")
  .refine(answersMatch, "calls and answers do not match");

/** A request of Gemini 3 or newer. */
export const googleBodySchema = z.strictObject({
  contents: contents.refine(firstCallsAreSigned, "the first call of a step is not signed"),
  systemInstruction: z.strictObject({ parts: z.array(text).length(1) }).optional(),
  tools: z
    .array(z.union([functions, googleSearch]))
    .min(1)
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({ mode: z.literal("NONE") }).optional(),
      includeServerSideToolInvocations: z.literal(true).optional(),
    })
    .optional(),
  generationConfig,
  safetySettings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
});
