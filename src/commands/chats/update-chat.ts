/** A person renames a chat, labels it, or has another model answer in it. */
import type { Viewer } from "../../domain/users/viewer.js";
import { updateMetadata } from "../../store/chats/chat-metadata.js";
import { applyTransition, type TransitionResult } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult, UpdateChatInput } from "./chat-commands.js";
import {
  checkModel,
  notFound,
  refusalOf,
  refuse,
  seeChat,
  type CommandDependencies,
  type KnownChat,
} from "../common/command-dependencies.js";
import { checkSelection } from "../mcp/selection.js";

/** All of it or nothing. The title is told to followers; labels and model are metadata that nobody follows. */
export async function updateChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: UpdateChatInput,
): Promise<CommandResult<ChatChanged>> {
  const { chatId, title, labels, modelConfigId, mcpServerIds } = input;
  const known = await seeChat(dependencies, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const refusal = await checkModel(dependencies, modelConfigId ?? undefined);
  if (refusal) return refuse(refusal);
  const selected = await checkSelection(dependencies.mcpSelection, mcpServerIds);
  if (!selected.ok) return selected;
  const changes = { labels, modelConfigId, mcpServerIds: selected.ids };
  const metadata = Object.values(changes).every((change) => change === undefined) ? null : changes;
  const renamed = title === undefined ? null : await rename(dependencies, { chatId, title, known, metadata });
  if (renamed?.outcome === "not_found") return notFound("chat", "chatId");
  if (renamed?.outcome === "refused") return refuse(refusalOf(renamed));
  // Nothing to rename: the metadata did not travel with the title.
  const isWritten = renamed?.outcome === "changed" || metadata === null;
  if (!isWritten && !(await updateMetadata(dependencies.database, chatId, metadata)))
    return notFound("chat", "chatId");
  return { ok: true, chatId, version: (renamed?.state ?? known.state).snapshotVersion };
}

type Renaming = {
  chatId: string;
  title: string;
  known: KnownChat;
  metadata: Parameters<typeof updateMetadata>[2] | null;
};

function rename(
  dependencies: CommandDependencies,
  { chatId, title, known, metadata }: Renaming,
): Promise<TransitionResult> {
  return applyTransition(dependencies, {
    chatId,
    commands: [{ type: "set-title", title, source: "person" }],
    known,
    ...(metadata
      ? { alongside: async (transaction) => void (await updateMetadata(transaction, chatId, metadata)) }
      : {}),
  });
}
