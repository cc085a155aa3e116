/** Changes a chat's title, labels, model and MCP servers. */
import type { ChatLabel } from "../../domain/chats/chat-state.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { updateMetadata } from "../../store/chats/chat-metadata.js";
import { applyTransition, type TransitionResult } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import {
  checkModel,
  notFound,
  refusalOf,
  refuse,
  findVisibleChat,
  type CommandDependencies,
  type KnownChat,
} from "../common/command-dependencies.js";
import { checkSelection } from "../mcp/selection.js";

/** Absent = unchanged. */
export type UpdateChatInput = {
  chatId: string;
  title?: string;
  labels?: ChatLabel[];
  /** Null = the deployment's default at each turn. */
  modelConfigId?: string | null;
  /** For messages from now on. */
  mcpServerIds?: string[];
};

/**
 * All or nothing; also for archived chats, as none of it starts a turn. The title is published to subscribers; labels
 * and model are metadata without events.
 */
export async function updateChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: UpdateChatInput,
): Promise<CommandResult<ChatChanged>> {
  const { chatId, title, labels, modelConfigId, mcpServerIds } = input;
  const known = await findVisibleChat(dependencies, viewer, chatId);
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
  // The metadata was not written with the title.
  const isWritten = renamed?.outcome === "changed" || metadata === null;
  if (!isWritten && !(await updateMetadata(dependencies.database, chatId, metadata)))
    return notFound("chat", "chatId");
  return { ok: true, chatId, version: (renamed?.state ?? known.state).snapshotVersion };
}

type Rename = {
  chatId: string;
  title: string;
  known: KnownChat;
  metadata: Parameters<typeof updateMetadata>[2] | null;
};

function rename(
  dependencies: CommandDependencies,
  { chatId, title, known, metadata }: Rename,
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
