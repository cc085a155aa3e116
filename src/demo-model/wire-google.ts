/** Gemini's format: reads contents, writes whole parts in CRLF-framed events, signs what it thought. */
import type { JsonObject } from "../domain/common/json.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";
import type { AnswerFinish, ContentEvent } from "./answer.js";
import { argumentsOf, contentText, type DemoTurn, objectOf, objectsOf, textOf } from "./request.js";
import { googleFault } from "./strict-google.js";
import { type AnswerFacts, sentUsage, type Wire, type WireWriter } from "./wire.js";

const FINISH_REASONS: Record<AnswerFinish, string> = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
};

const ERROR_STATUSES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
const SERVER_ERROR_CODE = 500;
const UNAVAILABLE_CODE = 503;

/** `/v1beta/models/NAME:VERB`; the model and whether to stream are in the address alone. */
const CALL_PATH = /^\/v1(?:alpha|beta)?\/models\/([^:]+):(streamGenerateContent|generateContent)$/;
const MODELS_PATH = /^\/v1(?:alpha|beta)\/models(?:\/([^:]+))?$/;

/** The input limit of Gemini's own models; the demo itself has none. */
const INPUT_LIMIT_TOKENS = 1_048_576;
const OUTPUT_LIMIT_TOKENS = 65_536;

/** Whether a POST to this path is a call of a Gemini model. */
export function isGoogleCall(path: string): boolean {
  return CALL_PATH.test(path);
}

/** The answer to a GET of the list of models, or of one of them; undefined for every other path. */
export function googleModels(path: string, modelName: string): JsonObject | undefined {
  const match = MODELS_PATH.exec(path);
  if (match === null) return undefined;
  const [, asked] = match;
  return asked === undefined ? { models: [googleModel(modelName)] } : googleModel(decodeURIComponent(asked));
}

function googleModel(name: string): JsonObject {
  return {
    name: `models/${name}`,
    version: "001",
    displayName: "Demo model",
    inputTokenLimit: INPUT_LIMIT_TOKENS,
    outputTokenLimit: OUTPUT_LIMIT_TOKENS,
    supportedGenerationMethods: ["generateContent"],
  };
}

export const googleWire: Wire = {
  readRequest(body, path) {
    const [, model = "", verb] = CALL_PATH.exec(path) ?? [];
    return {
      model: decodeURIComponent(model),
      isStreaming: verb === "streamGenerateContent",
      wantsUsage: true,
      system: contentText(objectOf(body.systemInstruction).parts),
      tools: objectsOf(body.tools)
        .flatMap(({ functionDeclarations }) => objectsOf(functionDeclarations))
        .map(({ name, parametersJsonSchema, parameters }) => ({
          name: textOf(name),
          inputSchema: objectOf(parametersJsonSchema ?? parameters),
        })),
      turns: objectsOf(body.contents).flatMap(readTurns),
    };
  },
  refusal(body, path, asked) {
    const [, model = ""] = CALL_PATH.exec(path) ?? [];
    const message = googleFault(body, asked, !/^(gemini-[12]\b|gemma)/.test(model));
    if (message === undefined) return undefined;
    return { status: 400, body: { error: errorOf(400, undefined, message) } };
  },
  createWriter: ({ model }, answer) => new GoogleWriter(model, answer),
  errorBody: (status, type, message) => ({ error: errorOf(status, type, message) }),
};

/** An exhausted plan is recognized by its details, as the vendor does; other vendors' types mean nothing here. */
function errorOf(code: number, type: string | undefined, message: string): JsonObject {
  const status = ERROR_STATUSES[code] ?? (code >= SERVER_ERROR_CODE ? "UNAVAILABLE" : "FAILED_PRECONDITION");
  if (type !== "insufficient_quota") return { code, message, status };
  const violations = [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }];
  const details = [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations }];
  return { code, message, status, details };
}

/** A user's content may carry tool results and words; they are two turns. Thoughts are not said. */
function readTurns({ role, parts }: JsonObject): DemoTurn[] {
  const list = objectsOf(parts);
  const text = contentText(list.filter(({ thought }) => thought !== true));
  if (role === "model") {
    const calls = list
      .filter(({ functionCall }) => functionCall !== undefined)
      .map(({ functionCall }) => objectOf(functionCall))
      .map(({ id, name, args }) => ({
        id: textOf(id ?? name),
        name: textOf(name),
        arguments: objectOf(args),
      }));
    return [{ role: "assistant", text, calls }];
  }
  const results = list
    .filter(({ functionResponse }) => functionResponse !== undefined)
    .map(({ functionResponse }) => objectOf(functionResponse))
    .map(({ id, name, response }) => ({ id: textOf(id ?? name), ...readResult(objectOf(response)) }));
  const turns: DemoTurn[] = results.length > 0 ? [{ role: "results", results }] : [];
  return text === "" ? turns : [...turns, { role: "user", text }];
}

/** The vendor's convention: `output` or `error` hold the result; without them it is the whole object. */
function readResult(response: JsonObject): { text: string; isError: boolean } {
  const isError = response.error !== undefined;
  const result = isError ? response : (response.output ?? response);
  return { text: typeof result === "string" ? result : JSON.stringify(result), isError };
}

class GoogleWriter implements WireWriter {
  private readonly parts: JsonObject[] = [];
  private readonly thoughts: string[] = [];
  /** What was thought is signed on the first call, or else at the very end. */
  private signature: string | undefined;
  private grounding: JsonObject | undefined;
  private ending: JsonObject = {};
  private usage: JsonObject;

  constructor(
    private readonly model: string,
    private readonly answer: AnswerFacts,
  ) {
    this.usage = usageFields({ ...answer.usage, outputTokens: 0, reasoningTokens: 0 });
  }

  open(): string {
    return "";
  }

  write(event: ContentEvent): string {
    switch (event.type) {
      case "text":
        return this.send([{ text: event.text }]);
      case "reasoning":
        this.thoughts.push(event.text);
        return this.send([{ text: event.text, thought: true }]);
      case "reasoning-end":
        this.signature = signatureOf(event.isRedacted ? "hidden" : this.thoughts.splice(0).join(""));
        return "";
      case "search":
        return this.writeSearch(event);
      case "tool-call": {
        const { id, name, argumentsText } = event;
        return this.send([{ functionCall: { id, name, args: parseLoosely(argumentsText) }, ...this.sign() }]);
      }
    }
  }

  close(reason: AnswerFinish, usage: TokenUsage): string {
    this.usage = usageFields(usage);
    this.ending = {
      finishReason: FINISH_REASONS[reason],
      ...(this.grounding === undefined ? {} : { groundingMetadata: this.grounding }),
    };
    return this.send([{ text: "", ...this.sign() }]);
  }

  end(): string {
    return "";
  }

  /** The vendor's codes are HTTP's; being overloaded is one of them. */
  fail(errorType: string, message: string): string {
    const code = errorType === "overloaded_error" ? UNAVAILABLE_CODE : SERVER_ERROR_CODE;
    return serverSentEvent({ error: errorOf(code, errorType, message) });
  }

  body(): JsonObject {
    return this.response(this.parts);
  }

  private send(parts: JsonObject[]): string {
    this.parts.push(...parts);
    return serverSentEvent(this.response(parts));
  }

  private response(parts: JsonObject[]): JsonObject {
    const usageMetadata = sentUsage(this.usage, this.answer);
    return {
      candidates: [{ content: { parts, role: "model" }, index: 0, ...this.ending }],
      ...(usageMetadata === null ? {} : { usageMetadata }),
      modelVersion: this.model,
      responseId: this.answer.id,
    };
  }

  private sign(): { thoughtSignature?: string } {
    const thoughtSignature = this.signature;
    this.signature = undefined;
    return thoughtSignature === undefined ? {} : { thoughtSignature };
  }

  /** The search and what it answered, as clients see them that asked for it; its pages are cited at the end. */
  private writeSearch({ query, pages }: Extract<ContentEvent, { type: "search" }>): string {
    const call = { toolType: "GOOGLE_SEARCH_WEB", id: `search_${this.answer.id}` };
    this.grounding = {
      webSearchQueries: [query],
      searchEntryPoint: { renderedContent: "<div></div>" },
      groundingChunks: pages.map(({ url, title }) => ({ web: { uri: url, title } })),
    };
    return (
      this.send([
        { toolCall: { ...call, args: { queries: [query] } }, thoughtSignature: signatureOf(query) },
      ]) + this.send([{ toolResponse: { ...call, response: { search_suggestions: "<div></div>" } } }])
    );
  }
}

/** A real model writes objects only; a script may write anything. */
function parseLoosely(text: string): JsonObject | string {
  const parsed = argumentsOf(text);
  return Object.keys(parsed).length > 0 || text === "{}" ? parsed : text;
}

function serverSentEvent(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}

function usageFields(usage: TokenUsage): JsonObject {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const answer = usage.outputTokens - usage.reasoningTokens;
  return {
    promptTokenCount: prompt,
    ...(usage.cacheReadTokens === 0 ? {} : { cachedContentTokenCount: usage.cacheReadTokens }),
    ...(answer === 0 ? {} : { candidatesTokenCount: answer }),
    ...(usage.reasoningTokens === 0 ? {} : { thoughtsTokenCount: usage.reasoningTokens }),
    totalTokenCount: prompt + usage.outputTokens,
  };
}

/** Not a signature; only the same for the same text, as a test wants it. */
function signatureOf(text: string): string {
  return Buffer.from(`demo:${text.slice(0, 32)}`).toString("base64");
}
