// Subagents: what they inherit, how a family is stopped and archived, and that a repeated call does nothing twice.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ListEntry } from "../../../src/domain/chats/list-events.js";
import { encodeId } from "../../../src/domain/common/ids.js";
import { builtInTools } from "../../../src/engine/tools/registry.js";
import { ensureSmallModel } from "../../../src/store/models/small-model.js";
import { findChats, listChats, type ChatRecord } from "../../../src/store/chats/chats.js";
import { findUnread, readListChecksums } from "../../../src/store/chats/unread.js";
import { calls, say, type Play } from "../../support/workspaces/agent-script.js";
import { insertServer } from "../../support/mcp/mcp-server-rows.js";
import { insertChat } from "../../support/database/rows.js";
import { ASK_ONE, familiesIn, PAGE, SLOW } from "./families.js";
import { isAtRest, World, type Replica } from "../world.js";

let world: World;
let families: ReturnType<typeof familiesIn>;
beforeAll(async () => {
  world = await World.open();
  families = familiesIn(world);
  // The request for it has a timeout of its own, as long as the poll interval of a wait.
  await world.run("UPDATE model_configs SET context_limit = 200000");
});
afterAll(() => world.close());
afterEach(async () => {
  await world.closeReplicas();
  await world.run("DELETE FROM chats");
});

describe("an agent that starts others", () => {
  test("gets the report of each; they inherit its model, workspace and MCP servers, and no list shows them", async () => {
    const rests: string[] = [];
    const entries: ListEntry[] = [];
    families.play({
      Do: [
        () =>
          calls(
            ["spawn_agent", { prompt: "Part one", title: "The first part." }],
            ["spawn_agent", { prompt: "Part two is this and that and something more" }],
          ),
        ({ agents }) =>
          calls(...agents.map((id) => ["wait_agent", { chat_id: id }] as [string, { chat_id: string }])),
        ({ results }) => ({
          text: results
            .slice(2)
            .map(({ report }) => report)
            .join(" & "),
        }),
      ],
      "Part one": [say("One is done.")],
      "Part two": [say("Two is done.")],
    });
    const replica = await families.start({ onTurnSettled: ({ chatId }) => void rests.push(chatId) });
    const detach = await world.bus.subscribeList(world.viewer.userId, (entry) => void entries.push(entry));
    // Nothing listens there: the turns go on without it.
    const server = await insertServer(world.database, {
      url: "http://127.0.0.1:9/",
      allowsPrivateAddresses: true,
    });
    const chatId = await world.createChat(replica, "Do it in parts", {
      workspaceId: world.workspaceId,
      reasoningEffort: "low",
      mcpServerIds: [server.id],
    });
    await world.untilStatus(chatId, "waiting");
    detach();
    expect(await families.lastWords(chatId)).toBe("assistant: One is done. & Two is done.");
    const children = await families.childrenOf(chatId);
    const [parent] = await findChats(world.database, world.viewer, [chatId]);
    expect(
      children.map((it) => [
        it.state.title,
        it.subagentKind,
        it.rootChatId,
        it.workspaceId,
        it.reasoningEffort,
      ]),
    ).toEqual([
      ["The first part", "general", chatId, world.workspaceId, "low"],
      ["Part two is this and that…", "general", chatId, world.workspaceId, "low"],
    ]);
    const choices = ({ modelConfigId, mcpServerIds }: ChatRecord) => ({ modelConfigId, mcpServerIds });
    expect(children.map(choices)).toEqual(children.map(() => parent && choices(parent)));
    expect(parent?.mcpServerIds).toEqual([server.id]);
    const listed = await listChats(world.database, world.viewer, { order: "created" }, PAGE);
    const ids = children.map(({ id }) => id);
    const weights = await readListChecksums(world.database, [world.viewer.userId]);
    await world.run("UPDATE chats SET title_version = title_version + 5 WHERE parent_chat_id IS NOT NULL");
    expect({
      listed: listed.rows.map(({ row }) => row.id),
      unread: [...(await findUnread(world.database, [chatId, ...ids]))],
      rests,
      about: [...new Set(entries.map(({ subject: about }) => about.split(" ")[0]))],
      weighsTheSame: await readListChecksums(world.database, [world.viewer.userId]),
    }).toEqual({
      listed: [chatId],
      unread: [chatId],
      rests: [chatId],
      about: [chatId],
      weighsTheSame: weights,
    });
  });

  test("offers its subagents no subagents of their own, unless depth allows them", async () => {
    const deep: Record<string, Play> = {
      Do: ASK_ONE,
      "Part one": [
        () => calls(["spawn_agent", { prompt: "Below" }]),
        ({ results, agents }) =>
          agents[0] ? calls(["wait_agent", { chat_id: agents[0] }]) : { text: results[0]?.["error"] },
        ({ results }) => ({
          text: `From below: ${results[0]?.["status"]} ${results.at(-1)?.["report"]}`,
        }),
      ],
      Below: [say("Deep.")],
    };
    families.play(deep);
    const shallow = await families.start();
    const first = await world.createChat(shallow, "Do it");
    await world.untilStatus(first, "waiting");
    expect(await families.lastWords(first)).toContain("There is no tool");
    await world.closeReplicas();
    const allowing = await families.start({ subagentDepth: 2 });
    const second = await world.createChat(allowing, "Do it");
    await world.untilStatus(second, "waiting");
    expect(await families.lastWords(second)).toBe("assistant: It said: From below: working Deep.");
    const rows = await world.run("SELECT depth FROM chats WHERE root_chat_id = $1 ORDER BY depth", [second]);
    expect(rows).toEqual([{ depth: 1 }, { depth: 2 }]);
  });

  test("is not offered the tools where subagents are disabled", async () => {
    const requests = families.play({ Do: [say("Alone.")] });
    const chatId = await world.createChat(await families.start({ subagentDepth: 0 }), "Do it");
    await world.untilStatus(chatId, "waiting");
    expect(requests[0]?.tools).toEqual([]);
  });

  test("can start a read-only one, on the small model, without MCP servers and tools that change files", async () => {
    await ensureSmallModel(world.database, {}, undefined);
    const [small] = await world.run(
      `INSERT INTO model_configs (id, provider_id, model, display_name)
        SELECT gen_random_uuid(), provider_id, 'small', 'Small' FROM model_configs WHERE id = $1 RETURNING id`,
      [world.modelConfigId],
    );
    await world.run("INSERT INTO settings (key, value) VALUES ('smallModelConfigId', to_jsonb($1::text))", [
      small?.["id"],
    ]);
    const requests = families.play({
      Do: [() => calls(["spawn_agent", { prompt: "Part one", type: "explore" }]), ...ASK_ONE.slice(1)],
      "Part one": [
        () => calls(["write_file", { path: "a", content: "b" }]),
        ({ results }) => ({ text: results[0]?.["error"] }),
      ],
    });
    const chatId = await world.createChat(await families.start(), "Do it", {
      workspaceId: world.workspaceId,
    });
    await world.untilStatus(chatId, "waiting");
    const [child] = await families.childrenOf(chatId);
    const looking = requests.find(({ headers }) => headers["parley-chat-id"] === child?.id);
    expect([child?.subagentKind, child?.modelConfigId, looking?.model]).toEqual([
      "explore",
      small?.["id"],
      "small",
    ]);
    expect(looking?.tools.map(({ name }) => name)).toEqual([
      ...["find_files", "list_directory", "read_file", "search_files"],
    ]);
    expect(looking?.system).toContain("Your tools only look.");
    expect(await families.lastWords(chatId)).toContain('There is no tool named "write_file"');
    await world.run("DELETE FROM settings WHERE key = 'smallModelConfigId'");
  });

  test("has no more busy subagents than allowed, and learns so", async () => {
    const wanted = Array.from({ length: 9 }, (_, index): [string, { prompt: string }] => [
      "spawn_agent",
      { prompt: `Part ${index}` },
    ]);
    families.play({ Do: [() => calls(...wanted), say("Enough.")], Part: [SLOW] });
    const replica = await families.start();
    const chatId = await world.createChat(replica, "Do it");
    await world.untilStatus(chatId, "waiting");
    const results = (await families.resultsOf(chatId)) as { error?: string }[];
    expect([results.length, results.filter(({ error }) => error).length]).toEqual([9, 1]);
    expect(results.at(-1)?.error).toContain("8 subagents are at work already");
    expect((await families.childrenOf(chatId)).length).toBe(8);
    await replica.commands.interruptChat(world.viewer, chatId);
  });

  test("cannot access chats that are not its own subagents", async () => {
    const unrelatedChatId = encodeId(
      "chat",
      await insertChat(world.database, { ownerId: world.viewer.userId }),
    );
    families.play({
      Do: [
        () =>
          calls(
            ["wait_agent", { chat_id: unrelatedChatId }],
            ["message_agent", { chat_id: unrelatedChatId, message: "Hello" }],
            ["interrupt_agent", { chat_id: unrelatedChatId }],
            ["wait_agent", { chat_id: "nonsense" }],
          ),
        say("None."),
      ],
    });
    const chatId = await world.createChat(await families.start(), "Do it");
    await world.untilStatus(chatId, "waiting");
    const none = { error: expect.stringContaining("There is no such subagent") as string };
    const bad = { error: expect.stringContaining('"nonsense" is not the id of a chat') as string };
    expect(await families.resultsOf(chatId)).toEqual([none, none, none, bad]);
  });

  test("runs processes that the chats above it can see", async () => {
    const dialled: { chatId: string; above: readonly string[] }[] = [];
    families.play({ Do: ASK_ONE, "Part one": [() => calls(["read_file", { path: "a" }]), say("Read.")] });
    const openWorkspace = (chatId: string, above: readonly string[]) => {
      dialled.push({ chatId, above });
      return Promise.reject(new Error("Unreachable."));
    };
    const replica = await families.start({ openWorkspace });
    const chatId = await world.createChat(replica, "Do it", { workspaceId: world.workspaceId });
    await world.untilStatus(chatId, "waiting");
    const [child] = await families.childrenOf(chatId);
    expect(dialled).toEqual([{ chatId: child?.id, above: [chatId] }]);
  });
});

describe("a repeated call", () => {
  const asking = async (chatId: string) => {
    const { state } = (await findChats(world.database, world.viewer, [chatId]))[0] ?? {};
    return {
      ...{
        chatId,
        rootChatId: chatId,
        ownerId: world.viewer.userId,
        runnerId: state?.runnerId ?? null,
        depth: 0,
      },
      ...{ subagentKind: null, workspaceId: null, modelConfigId: world.modelConfigId, reasoningEffort: null },
      mcpServerIds: [],
    };
  };

  test("starts one subagent and sends a message once, even when both run concurrently", async () => {
    families.play({ Do: [SLOW], Part: [SLOW] });
    const [one, other] = [await families.start(), world.replica({ tools: builtInTools })];
    const speaks = world.modelClock.nextTimer(1_000);
    const chatId = await world.createChat(one, "Do it");
    await speaks;
    const agents = await Promise.all(
      [one, other].map(async ({ dependencies }) => dependencies.tools.subagents.of(await asking(chatId))),
    );
    const spawned = await Promise.all(
      agents.map((it) => it.spawn({ task: "Part one", kind: "general" }, "key")),
    );
    const again = await agents[1]?.spawn({ task: "Part one", kind: "general" }, "key");
    const children = await families.childrenOf(chatId);
    const agent = { chatId: children[0]?.id, title: "Part one", kind: "general" };
    expect([children.length, ...spawned, again]).toEqual([1, ...[1, 2, 3].map(() => ({ ok: true, agent }))]);

    const childId = children[0]?.id ?? "";
    const message = { text: "More", whenBusy: "queue" as const };
    const answers = await Promise.all(agents.map((it) => it.message(childId, message, "key of a message")));
    expect(answers).toEqual([1, 2].map(() => ({ ok: true, agent, isQueued: true })));
    expect((await world.state(childId)).queuedIds.length).toBe(1);

    // The turn has been stopped: a late call starts nothing and returns nothing.
    await one.commands.interruptChat(world.viewer, chatId);
    await world.until(chatId, isAtRest);
    const late = await agents[0]?.spawn({ task: "Part two", kind: "general" }, "another key");
    const lateWord = await agents[0]?.message(childId, message, "one more key");
    expect([late, lateWord]).toEqual(
      [1, 2].map(() => ({ ok: false, message: expect.stringContaining("stopped") as string })),
    );
    await world.until(childId, isAtRest);
    expect([(await world.state(childId)).queuedIds, (await families.childrenOf(chatId)).length]).toEqual([
      [],
      1,
    ]);
  });
});

test("nothing is started or sent for a deactivated user", async () => {
  families.play({ Do: [SLOW] });
  const replica = await families.start();
  const speaks = world.modelClock.nextTimer(1_000);
  const chatId = await world.createChat(replica, "Do it");
  await speaks;
  const { runnerId } = await world.state(chatId);
  const agents = replica.dependencies.tools.subagents.of({
    ...{ chatId, rootChatId: chatId, ownerId: world.viewer.userId, runnerId, depth: 0, subagentKind: null },
    ...{ workspaceId: null, modelConfigId: world.modelConfigId, reasoningEffort: null, mcpServerIds: [] },
  });
  const spawn = (key: string) => agents.spawn({ task: "Part one", kind: "general" }, key);
  await world.run("UPDATE users SET deactivated_at = now() WHERE id = $1", [world.viewer.userId]);
  const refused = await spawn("one");
  await world.run("UPDATE users SET deactivated_at = NULL WHERE id = $1", [world.viewer.userId]);
  expect([refused.ok, (await spawn("two")).ok]).toEqual([false, true]);
});

describe("a family", () => {
  async function working(): Promise<{ replica: Replica; chatId: string; childId: string }> {
    families.play({ Do: ASK_ONE, "Part one": [SLOW] });
    const replica = await families.start();
    const [speaks, waits] = [world.modelClock.nextTimer(1_000), replica.clock.nextTimer(5_000)];
    const chatId = await world.createChat(replica, "Do it");
    await Promise.all([speaks, waits]);
    return { replica, chatId, childId: await families.onlyChild(replica, chatId) };
  }

  test("is stopped together with its root chat; partial answers of subagents are stored", async () => {
    const { replica, chatId, childId } = await working();
    expect(await replica.commands.interruptChat(world.viewer, chatId)).toMatchObject({ ok: true });
    await Promise.all([world.until(chatId, isAtRest), world.until(childId, isAtRest)]);
    expect([await families.lastWords(childId), (await families.resultsOf(chatId)).at(-1)]).toEqual([
      "assistant: wait",
      { error: expect.stringContaining("interrupted") as string },
    ]);
    expect(replica.dependencies.tools.subagents.waitingChats).toBe(0);
  });

  test("is stopped with a turn that an edit discards", async () => {
    const { replica, chatId, childId } = await working();
    const [first] = await world.history(chatId);
    families.play({ Else: [say("Something else.")] });
    const parts = [{ type: "text" as const, text: "Else" }];
    await replica.commands.editMessage(world.viewer, { messageId: first?.id ?? "", parts });
    await Promise.all([world.until(childId, isAtRest), world.untilStatus(chatId, "waiting")]);
    expect(await world.historyLines(chatId)).toEqual(["user: Else", "assistant: Something else."]);
  });

  test("is archived and unarchived as a whole, and a subagent not before its parent", async () => {
    const { replica, chatId, childId } = await working();
    const archived = async () =>
      Promise.all([chatId, childId].map(async (id) => (await world.state(id)).isArchived));
    await replica.commands.archiveChat(world.viewer, chatId);
    const gone = await archived();
    await Promise.all([world.until(chatId, isAtRest), world.until(childId, isAtRest)]);
    const refused = await replica.commands.unarchiveChat(world.viewer, childId);
    await replica.commands.unarchiveChat(world.viewer, chatId);
    const back = await archived();
    await replica.commands.archiveChat(world.viewer, childId);
    const alone = await archived();
    expect({ gone, refused, back, alone }).toEqual({
      gone: [true, true],
      refused: { ok: false, refusal: expect.objectContaining({ code: "CONFLICT" }) as object },
      back: [false, false],
      alone: [false, true],
    });
  });
});
