// Events of streams. Subscribers get all of them; objects in them keep their own rules.
import type { TypeEntries } from "./entries.js";

const CHAT = { partOf: ["Subscription.chatEvents"] };
const LIST = { partOf: ["Subscription.chatListEvents"] };
const DELTA = { partOf: ["ChatPartEvent.delta"] };

export const ofEvents: TypeEntries = {
  ChatActionRequiredEvent: { fields: "cursor deadline toolCalls", ...CHAT },
  ChatCaughtUpEvent: { fields: "cursor replayedEvents", ...CHAT },
  ChatErrorEvent: { fields: "cursor failure", ...CHAT },
  ChatMessageEvent: { fields: "cursor message replacedGeneration", ...CHAT },
  ChatPartEvent: { fields: "cursor generation partIndex delta role sequence", ...CHAT },
  ChatPreviewResetEvent: { fields: "cursor generation resetReason", ...CHAT },
  ChatQueueEvent: { fields: "cursor queuedMessages", ...CHAT },
  ChatRefreshEvent: { fields: "chat cursor reason", ...CHAT },
  ChatRetryEvent: { fields: "cursor generation retry", ...CHAT },
  ChatStatusEvent: { fields: "chat cursor status", ...CHAT },
  ChatDiffStatusEvent: { fields: "cursor diffStatus", ...CHAT },
  ChatTitleEvent: { fields: "cursor title", ...CHAT },
  Generation: { fields: "attempt id startedAt", partOf: ["ChatPartEvent", "ChatMessageEvent"] },
  TextDelta: { fields: "append", ...DELTA },
  ReasoningDelta: { fields: "append", ...DELTA },
  ToolInputDelta: { fields: "append toolCallId toolName", ...DELTA },
  ToolOutputDelta: { fields: "append toolCallId", ...DELTA },
  ChatCreatedEvent: { fields: "chat cursor", ...LIST },
  ChatListCaughtUpEvent: { fields: "cursor replayedEvents", ...LIST },
  ChatListRefreshEvent: { fields: "cursor reason", ...LIST },
  ChatRemovedEvent: { fields: "chatId cursor removalReason", ...LIST },
  ChatStatusChangedEvent: { fields: "chat cursor isUnread status", ...LIST },
  ChatDiffStatusChangedEvent: { fields: "chat cursor diffStatus", ...LIST },
  ChatTitleChangedEvent: { fields: "chat cursor title", ...LIST },
};
