/** Shared by all routes: request parsing, the chat scope of a request, and responses. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { refused, type Outcome, type Refusal } from "../outcome.js";
import type { ChatScope } from "../process/process-registry.js";
import {
  ANCESTOR_CHAT_IDS_HEADER,
  ancestorChatIdsSchema,
  CHAT_ID_HEADER,
  chatIdSchema,
  USER_ID_HEADER,
  type AgentErrorBody,
} from "../protocol/requests.js";

/** Thrown for an invalid request; the error handler sends its refusal. */
export class RefusedRequest extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? undefined : issue.path.join(".");
  const reason = issue?.message ?? "it has an unknown shape";
  throw new RefusedRequest(
    refused(400, `The request is not valid: ${field === undefined ? "" : `${field}: `}${reason}`, {
      field,
      detail: z.prettifyError(parsed.error),
    }),
  );
}

/** Refuses a malformed chat id: treating it as "no chat" would show every chat's processes. */
export function scopeOf(request: Pick<FastifyRequest, "headers">): ChatScope {
  const chatId = request.headers[CHAT_ID_HEADER];
  const userId = request.headers[USER_ID_HEADER];
  const ancestors = request.headers[ANCESTOR_CHAT_IDS_HEADER];
  return {
    chatId: chatId === undefined ? undefined : parseHeader(CHAT_ID_HEADER, chatIdSchema, chatId),
    userId: userId === undefined ? undefined : parseHeader(USER_ID_HEADER, chatIdSchema, userId),
    ancestorChatIds:
      ancestors === undefined
        ? []
        : parseHeader(ANCESTOR_CHAT_IDS_HEADER, ancestorChatIdsSchema, fromJson(ancestors)),
  };
}

function parseHeader<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RefusedRequest(refused(400, `The header ${name} is not valid.`, { field: name }));
}

/** Undefined for anything that is not JSON, which no schema here accepts. */
function fromJson(text: string | string[]): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Aborted when the connection closes, also before the response is complete. */
export function disconnection(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  return controller.signal;
}

export function answer<Value>(reply: FastifyReply, outcome: Outcome<Value>): FastifyReply {
  return outcome.kind === "done" ? reply.send(outcome.value) : refuse(reply, outcome);
}

export function refuse(reply: FastifyReply, { status, message, detail, field }: Refusal): FastifyReply {
  const body: AgentErrorBody = { message, detail, field };
  return reply.code(status).send(body);
}
