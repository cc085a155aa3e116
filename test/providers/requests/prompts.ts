/** Builders of history messages, for tests of prompts. */
import type { PromptPart } from "../../../src/domain/chats/message-parts.js";
import type { ModelRequest, PromptMessage } from "../../../src/providers/types.js";

export const user = (...parts: PromptPart[]): PromptMessage => ({ role: "user", parts });
export const assistant = (...parts: PromptPart[]): PromptMessage => ({ role: "assistant", parts });
export const tool = (...parts: PromptPart[]): PromptMessage => ({ role: "tool", parts });
export const text = (value: string): PromptPart => ({ type: "text", text: value });
export const call: PromptPart = {
  type: "tool-call",
  toolCallId: "a/1",
  toolName: "execute",
  arguments: { command: "ls" },
};
export const answer = { type: "tool-result" as const, toolCallId: "a/1", toolName: "execute" };
export const anthropicThought = {
  type: "reasoning" as const,
  text: "hm",
  providerMetadata: { anthropic: { signature: "sig" } },
};
export const openaiThought = {
  type: "reasoning" as const,
  text: "hm",
  providerMetadata: { openai: { itemId: "rs_1", encryptedContent: "enc" } },
};
export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "claude-sonnet-5",
  system: "",
  messages: [user(text("hi"))],
  tools: [],
  maxOutputTokens: 32_000,
  ...more,
});
