/** What all requests to the agent share: headers, chat ids, the limit on JSON bodies, and the error body. */
import { z } from "zod";

/** The chat that a request is for. Requests without it see every chat's processes. */
export const CHAT_ID_HEADER = "parley-chat-id";
/** JSON array of the chat's ancestors, nearest first. */
export const ANCESTOR_CHAT_IDS_HEADER = "parley-ancestor-chat-ids";

/** The chat's owner, for limits that all chats of a user share. Without it only the chat's own limit applies. */
export const USER_ID_HEADER = "parley-user-id";

/** Largest JSON body, except for writes and edits; see `MAX_FILE_BODY_BYTES`. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Ids travel in headers, so they are short and plain. */
export const chatIdSchema = z.string().regex(/^[A-Za-z0-9_:-]{1,128}$/);
export const ancestorChatIdsSchema = z.array(chatIdSchema).max(64);

/** Body of every response with a status of 400 or more. `field` names the part of the request that is wrong. */
export const agentErrorSchema = z.object({
  message: z.string(),
  detail: z.string().optional(),
  field: z.string().optional(),
});
export type AgentErrorBody = z.infer<typeof agentErrorSchema>;
