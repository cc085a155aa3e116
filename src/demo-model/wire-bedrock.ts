/**
 * Claude on Amazon Bedrock: Anthropic's requests and events, but the model and the streaming are in the path, the
 * stream is AWS's binary one, and errors have AWS's names.
 */
import type { JsonObject } from "../domain/common/json.js";
import { eventStreamMessage } from "./aws-event-stream.js";
import { anthropicFault } from "./strict-anthropic.js";
import { anthropicWire } from "./wire-anthropic.js";
import type { Wire, WireWriter } from "./wire.js";

/** `/model/MODEL/invoke` answers whole, `/model/MODEL/invoke-with-response-stream` streams. */
const PATH = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/;

const ERROR_TYPES: Record<number, string> = {
  400: "ValidationException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  500: "InternalServerException",
  503: "ServiceUnavailableException",
};

export function isBedrockPath(path: string): boolean {
  return PATH.test(path);
}

export const bedrockWire: Wire = {
  stream: { contentType: "application/vnd.amazon.eventstream", encoding: "latin1" },
  readRequest(body, path) {
    const [, model = "", streaming] = PATH.exec(path) ?? [];
    const isStreaming = streaming !== undefined;
    return { ...anthropicWire.readRequest(body, path), model: decodeURIComponent(model), isStreaming };
  },
  refusal(body, _path, asked) {
    const message = anthropicFault(body, asked, true);
    return message === undefined ? undefined : { status: 400, body: { message } };
  },
  createWriter: (request, answer) => new BedrockWriter(anthropicWire.createWriter(request, answer)),
  errorBody: (_status, _type, message) => ({ message }),
  errorHeaders: (status, type) => ({
    "x-amzn-errortype": type ?? ERROR_TYPES[status] ?? "InternalServerException",
    "x-amzn-requestid": "req_demo",
  }),
};

class BedrockWriter implements WireWriter {
  constructor(private readonly inner: WireWriter) {}

  open(): string {
    return asChunks(this.inner.open());
  }

  write(event: Parameters<WireWriter["write"]>[0]): string {
    return asChunks(this.inner.write(event));
  }

  close(...end: Parameters<WireWriter["close"]>): string {
    return asChunks(this.inner.close(...end));
  }

  end(): string {
    return asChunks(this.inner.end());
  }

  /** AWS's own exceptions are messages of their own; the model's errors pass through as one more event. */
  fail(errorType: string, message: string): string {
    if (errorType.endsWith("Exception")) return exceptionMessage(errorType, message).toString("latin1");
    return asChunks(this.inner.fail(errorType, message));
  }

  body(): JsonObject {
    return this.inner.body();
  }
}

/** Server-sent events → chunks of the binary stream, as Latin-1 text. Bedrock sends no pings. */
function asChunks(serverSentEvents: string): string {
  return serverSentEvents
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== 'data: {"type":"ping"}')
    .map((line) => chunkMessage(line.slice("data: ".length)).toString("latin1"))
    .join("");
}

/** One event of the model's: its JSON, as base64 in JSON. */
export function chunkMessage(json: string): Buffer {
  const headers = {
    ":event-type": "chunk",
    ":content-type": "application/json",
    ":message-type": "event",
  };
  return eventStreamMessage(
    headers,
    Buffer.from(JSON.stringify({ bytes: Buffer.from(json).toString("base64") })),
  );
}

/** An exception that ends the stream, by its name in the stream: `throttlingException`. */
export function exceptionMessage(type: string, message: string): Buffer {
  const headers = {
    ":exception-type": type,
    ":content-type": "application/json",
    ":message-type": "exception",
  };
  return eventStreamMessage(headers, Buffer.from(JSON.stringify({ message })));
}
