// Random life of a chat: anything that its users and workers may do.
import type { ChatFailure } from "../../src/domain/common/failures.js";
import { type ChatWorld, userMessage } from "./world.js";

const failure: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };

/** Performs one random action on the chat; those that the lifecycle refuses have no effect. */
export function act(world: ChatWorld, random: () => number, step: number): void {
  const { state, fence } = world;
  const dice = random();
  const options = { isPublished: random() > 0.05, isLarge: random() < 0.1 };
  const run = (...commands: Parameters<ChatWorld["run"]>[0]) => world.run(commands, options);
  const ids = { workerId: `worker-${step}`, runnerId: `runner-${step}` };
  const queuedId = `queued-${step}`;
  const whenBusy = random() < 0.3 ? ("interrupt" as const) : ("queue" as const);
  if (dice < 0.04)
    return void run({ type: "send-message", whenBusy, message: userMessage(`${step}`), queuedId });
  if (dice < 0.06) return edit(world, random, step);
  if (dice < 0.08) return void run({ type: "interrupt" });
  if (dice < 0.1) return void run({ type: "promote-queued", queuedId: state.queuedIds.at(-1) ?? "" });
  switch (state.status) {
    case "pending":
      return void run({ type: "acquire", ...ids, isLeaseDead: false });
    case "running":
      return work(world, random, step);
    case "interrupting": {
      const messages = dice < 0.5 ? [world.answer(`partial ${step}`)] : [];
      return void run({ type: "finish-interrupt", fence, messages, openCalls: [] });
    }
    case "requires_action": {
      const results = state.openCalls.map(({ toolCallId }) => ({ toolCallId, result: "ok", isError: false }));
      return void run({ type: "submit-tool-results", results });
    }
    case "waiting":
    case "error":
      return void run({ type: "send-message", whenBusy, message: userMessage(`${step}`), queuedId });
  }
}

/** Performs one random action of a runner. */
function work(world: ChatWorld, random: () => number, step: number): void {
  const { state, fence } = world;
  const dice = random();
  const run = (...commands: Parameters<ChatWorld["run"]>[0]) => world.run(commands);
  if (state.attempt === 0 || state.retry !== null) return void run({ type: "begin-attempt", fence });
  if (dice < 0.6)
    return world.write(...Array.from({ length: 1 + Math.floor(random() * 4) }, () => `${step} `));
  if (dice < 0.66) return void run({ type: "record-retry", fence, delayMs: 10, failure });
  const ids = { workerId: `worker-${step}`, runnerId: `runner-${step}` };
  if (dice < 0.7) return void run({ type: "acquire", ...ids, isLeaseDead: true });
  if (dice < 0.73) return void run({ type: "release", fence });
  if (dice < 0.75) return void run({ type: "fail", fence, failure });
  if (dice < 0.85) {
    const openCalls = [{ toolCallId: `call-${step}`, toolName: "ask", isClient: true, arguments: {} }];
    const messages = [world.answer(`asks ${step}`)];
    return void run({ type: "commit-step", fence, messages, openCalls }, { type: "await-client", fence });
  }
  const lastAnswer = world.messages.findLast((row) => row.role === "assistant");
  const addRuntime = lastAnswer ? { addRuntime: { messageId: lastAnswer.id, runtimeMs: 5 } } : {};
  if (dice < 0.9) {
    const messages = [world.answer(`step ${step}`)];
    return void run({ type: "commit-step", fence, messages, openCalls: [], ...addRuntime });
  }
  world.finish(`answer ${step}`);
}

function edit(world: ChatWorld, random: () => number, step: number): void {
  const users = world.messages.filter((row) => row.role === "user");
  const chosen = users[Math.floor(random() * users.length)];
  if (chosen)
    world.run([{ type: "edit-message", messageId: chosen.id, message: userMessage(`edited ${step}`) }]);
}
