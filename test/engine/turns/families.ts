// Fixtures for tests of subagents: a scripted model, replicas with every tool, and queries of families.
import type { DemoRequest } from "../../../src/demo-model/request.js";
import { builtInTools } from "../../../src/engine/tools/registry.js";
import { listChats, type ChatRecord } from "../../../src/store/chats/chats.js";
import { calls, playing, type Play } from "../../support/workspaces/agent-script.js";
import type { Replica, World } from "../world.js";

export const PAGE = { direction: "forwards", limit: 100, after: null, before: null } as const;

/** Answers with one word, and with another once the model's clock has advanced by a second. */
export const SLOW = () => ({ text: ["wait", "ing"], delayMs: 1_000 });

/** Starts one, then waits for it and repeats its report. */
export const ASK_ONE: Play = [
  () => calls(["spawn_agent", { prompt: "Part one" }]),
  ({ agents }) => calls(["wait_agent", { chat_id: agents[0] ?? "" }]),
  ({ results }) => ({ text: `It said: ${results.at(-1)?.["report"]}` }),
];

export function familiesIn(world: World) {
  /** Collects the model's requests from now on. */
  function play(plays: Record<string, Play>): DemoRequest[] {
    const requests: DemoRequest[] = [];
    const answer = playing(plays);
    world.answer = (request) => {
      requests.push(request);
      return answer(request);
    };
    return requests;
  }

  async function start(options: Parameters<World["replica"]>[0] = {}): Promise<Replica> {
    const replica = world.replica({ tools: builtInTools, ...options });
    await replica.worker.start();
    return replica;
  }

  async function childrenOf(chatId: string): Promise<ChatRecord[]> {
    const all = { order: "created", includeSubagents: true } as const;
    const { rows } = await listChats(world.database, world.viewer, all, PAGE);
    return rows
      .map(({ row }) => row)
      .filter(({ parentChatId }) => parentChatId === chatId)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  /** The chat's only subagent, as soon as it is there. */
  async function onlyChild(replica: Replica, chatId: string): Promise<string> {
    for (;;) {
      const [child] = await childrenOf(chatId);
      // A replica without events receives no wake-ups.
      replica.worker.wake();
      if (child) return child.id;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Results of the chat's tools, in the order of history. */
  async function resultsOf(chatId: string): Promise<unknown[]> {
    return (await world.history(chatId)).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : [])),
    );
  }

  const lastWords = async (chatId: string) => (await world.historyLines(chatId)).at(-1);
  return { play, start, childrenOf, onlyChild, resultsOf, lastWords };
}
