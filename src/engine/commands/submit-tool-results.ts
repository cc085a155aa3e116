/** The client answers the calls of its own tools. */
import type { ToolResultPart } from "../../domain/message-parts.js";
import type { Viewer } from "../../domain/viewer.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, seeChat, type CommandParts } from "./command-parts.js";
import { checkStorage } from "./storage-check.js";
import { refusalOfUndone } from "./undone.js";

type Results = Pick<ToolResultPart, "toolCallId" | "result" | "isError">[];

export async function submitToolResults(
  parts: CommandParts,
  viewer: Viewer,
  { chatId, results }: { chatId: string; results: Results },
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const stored = await checkStorage(parts, known.ownerId, Buffer.byteLength(JSON.stringify(results)));
  if (!stored.ok) return stored;
  const command = { type: "submit-tool-results" as const, results };
  try {
    return await changeKnown(parts, known, { chatId, command, alongside: stored.verify });
  } catch (error) {
    return refusalOfUndone(error);
  }
}
