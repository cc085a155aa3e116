import { expect, test } from "vitest";
import { commandEnvironment } from "./environment.js";

test("the request overrides what is inherited, and the chat id and the mark override both", () => {
  const environment = commandEnvironment({
    inherited: { A: "inherited", B: "inherited", PARLEY_CHAT_ID: "inherited" },
    requested: { B: "requested", PARLEY_CHAT_ID: "forged", PARLEY_AGENT_INSTANCE: "forged" },
    chatId: "chat-1",
    instanceId: "agent-1",
  });
  expect(environment).toEqual({
    A: "inherited",
    B: "requested",
    PARLEY_CHAT_ID: "chat-1",
    PARLEY_AGENT_INSTANCE: "agent-1",
  });
});

test("without a chat no chat id is added", () => {
  const layers = { inherited: { A: "1" }, requested: undefined, chatId: undefined, instanceId: "agent-1" };
  expect(commandEnvironment(layers)).toEqual({ A: "1", PARLEY_AGENT_INSTANCE: "agent-1" });
});
