/** Limits on concurrent processes of chats and users, and the refusal beyond them. Pure. */
import { cutText } from "../../lib/text/utf8.js";

/** 0 = no limit. */
export type ProcessLimits = { perChat: number; perUser: number };

/** Enough for a server, a watcher, a build and a few commands in each chat, and a few active chats of each user. */
export const DEFAULT_PROCESS_LIMITS: ProcessLimits = { perChat: 16, perUser: 64 };

/** A process that counts: it runs, or it has ended while its children run on. */
export type LivingProcess = {
  id: string;
  command: string;
  chatId: string | undefined;
  userId: string | undefined;
  /** False when its shell has ended and only its children run. */
  isRunning: boolean;
};

/** The chat and user that a process is started for; without a chat there is no limit. */
export type Starter = { chatId: string | undefined; userId: string | undefined };

/** Enough to choose from; process lists show the others. */
const MAX_SHOWN = 10;
/** Enough to recognise a command. */
const MAX_SHOWN_COMMAND_BYTES = 80;

/** The reason of a refusal, written for a model; undefined when the start is allowed. Hides other chats' commands. */
export function refuseStart(
  living: readonly LivingProcess[],
  { chatId, userId }: Starter,
  { perChat, perUser }: ProcessLimits,
): string | undefined {
  if (chatId === undefined) return undefined;
  const ofChat = living.filter((process) => process.chatId === chatId);
  if (perChat > 0 && ofChat.length >= perChat) {
    return `This chat runs ${counted(ofChat.length)} already, as many as one chat may: ${shown(ofChat)}.`;
  }
  if (userId === undefined || perUser === 0) return undefined;
  const ofUser = living.filter((process) => process.userId === userId).length;
  if (ofUser < perUser) return undefined;
  const own = ofChat.length === 0 ? "none of them is this chat's" : `this chat's are ${shown(ofChat)}`;
  return `The chats of this user run ${counted(ofUser)} in this workspace already, as many as one user may; ${own}.`;
}

function counted(count: number): string {
  return count === 1 ? "1 process" : `${count} processes`;
}

function shown(processes: readonly LivingProcess[]): string {
  const newestFirst = processes.toReversed().slice(0, MAX_SHOWN);
  const words = newestFirst.map(({ id, command, isRunning }) => {
    const text = cutText(command, MAX_SHOWN_COMMAND_BYTES).replace(/\s+/g, " ").trim();
    return `${id} (${isRunning ? "" : "children of "}${text})`;
  });
  const others = processes.length - newestFirst.length;
  return words.join(", ") + (others > 0 ? ` and ${others} more` : "");
}
