// The fields that tests ask for, and what they are in TypeScript.

export const USER_ERRORS = `userErrors { __typename code message path ... on Conflict { currentStatus } }`;

export const MESSAGE_FIELDS = `id role parts {
  __typename
  ... on TextPart { text }
  ... on ReasoningPart { text isRedacted }
  ... on ToolCallPart { toolCallId toolName arguments }
  ... on ToolResultPart { toolCallId toolName result isError }
  ... on SourcePart { url title }
  ... on NoticePart { level text }
  ... on FileReferencePart { path startLine endLine content }
}`;

export const CHAT_FIELDS = `id title status eventCursor lastError { kind message httpStatus isRetryable }
  pendingToolCalls { toolCallId toolName arguments }
  queuedMessages { id parts { ... on TextPart { text } } }
  messages(last: 100) { nodes { ${MESSAGE_FIELDS} } }`;

export type Part = { __typename: string; [field: string]: unknown };
export type Message = { id: string; role: string; parts: Part[] };
export type Queued = { id: string; parts: { text: string }[] };
export type ChatShown = {
  id: string;
  title: string;
  status: string;
  eventCursor: string;
  lastError: { kind: string; message: string; httpStatus: number | null; isRetryable: boolean } | null;
  pendingToolCalls: { toolCallId: string; toolName: string; arguments: unknown }[];
  queuedMessages: Queued[];
  messages: { nodes: Message[] };
};
export type UserError = {
  __typename: string;
  code: string;
  message: string;
  path: string[] | null;
  currentStatus?: string | null;
};
export type Payload = { chat: { id: string; status: string } | null; userErrors: UserError[] };
export type SendPayload = Payload & {
  message: { id: string } | null;
  queuedMessage: { id: string } | null;
  eventCursor: string | null;
};
