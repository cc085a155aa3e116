// One cell of the table: its own chat in one phase, two subscribers, and the chat's outcome.
import { join } from "node:path";
import type { Part } from "../../../support/clients/api-shapes.js";
import { type ApiClient, Follower } from "../../../support/clients/api-client.js";
import type { Message } from "../../../support/clients/api-shapes.js";
import type { Line } from "../../../support/models/staged-model.js";
import type { ScriptStep } from "../../../../src/demo-model/answer.js";
import { Transcript } from "../../../support/clients/transcript.js";
import { makeFifo } from "../../../agent/files/fifo.js";
import { within } from "./within.js";
import type { Cell, Outcome, Phase, Scene } from "./words.js";
import { findLawBreaches } from "./laws.js";

let cells = 0;

/** Brings a new chat and its subscribers into the phase. `answer` replaces the model's step at the pause. */
export async function bringInto(
  phase: Phase,
  scene: Scene,
  api: ApiClient,
  answer?: ScriptStep,
): Promise<Cell> {
  cells += 1;
  const cue = `cell-${cells}-`;
  const fifoName = `fifo-${cue}`;
  const lines: Line[] = phase.lines(cue, fifoName);
  if (answer) lines[phase.calls - 1] = { ...answer, pauseAt: "before-headers" };
  const staged = scene.model.cast(cue, lines);
  const fifo = phase.runsProcess ? makeFifo(join(scene.environment.repository.folder, fifoName)) : null;
  const chatId = await api.createChat(`${cue} begin`, phase.more);
  const follower = api.follow(chatId);
  const returning = new Transcript();
  const cell: Cell = { phase, scene, cue, chatId, api, staged, follower, returning, mark: 0, fifo };
  await within(phase.reach(cell), () => `reaching it: ${follower.transcript.log.slice(-20).join(", ")}`);
  const witness = new Follower(api, chatId, returning);
  await within(
    witness.until(({ isCaughtUp }) => isCaughtUp),
    () => "being seen",
  );
  await witness.cut();
  cell.mark = follower.transcript.log.length;
  return cell;
}

/** Switches the cell to another server: its follower resubscribes there. */
export async function moveTo(cell: Cell, api: ApiClient): Promise<void> {
  const { transcript } = cell.follower;
  await within(cell.follower.ended, () => "the end of the old stream");
  transcript.reopened();
  cell.api = api;
  cell.follower = new Follower(api, cell.chatId, transcript);
}

/** Waits until the chat is idle, and compares all views of it. */
export async function outcomeOf(cell: Cell): Promise<Outcome> {
  const { follower, chatId, api, returning, staged } = cell;
  const { transcript } = follower;
  await within(
    follower.until((seen) => isOver(seen, cell.mark)),
    () => `rest: ${transcript.log.slice(cell.mark).join(", ")}`,
  );
  await within(staged.silent(), () => "the model's streams to be closed");
  await follower.close();
  returning.reopened();
  const back = new Follower(api, chatId, returning);
  await within(
    back.until(({ isCaughtUp }) => isCaughtUp),
    () => "the return",
  );
  await back.close();
  const shown = await readChat(api, chatId);
  const seenBreaches = [
    ...differences("the follower", transcript, shown),
    ...differences("the returning subscriber", returning, shown),
  ];
  const laws = await findLawBreaches(cell.scene.environment.database.dataSource, chatId);
  return {
    status: shown.status,
    isArchived: shown.archivedAt !== null,
    failure: shown.lastError?.kind ?? null,
    queue: shown.queuedMessages.map(({ parts }) => parts[0]?.text ?? ""),
    story: shown.messages.nodes.map(wordsOf),
    calls: staged.calls,
    breaches: [...seenBreaches, ...laws, ...staged.problems],
  };
}

/** Resolves when no process started by a tool is running. */
export async function processEnd({ fifo }: Cell): Promise<void> {
  if (fifo) await within(fifo.closed, () => "the end of its process");
}

async function readChat(api: ApiClient, chatId: string) {
  const shown = await api.chat(chatId);
  if (!shown) throw new Error("The chat is gone.");
  const query = "query ($chatId: ID!) { chat(id: $chatId) { archivedAt } }";
  const { chat } = await api.get<{ chat: { archivedAt: string | null } }>(query, { chatId });
  return { ...shown, ...chat };
}

/** Whether the chat has reported a final status or a snapshot since `mark` and is idle now. */
function isOver({ log, status, failure, isCaughtUp }: Transcript, mark: number): boolean {
  if (!isCaughtUp || !log.slice(mark).some((name) => /^(status (WAITING|ERROR)|refresh)/.test(name)))
    return false;
  return status === "WAITING" || (status === "ERROR" && failure !== null);
}

type Shown = Awaited<ReturnType<typeof readChat>>;

function differences(who: string, transcript: Transcript, shown: Shown): string[] {
  const queued = shown.queuedMessages.map(({ parts }) => parts[0]?.text ?? "");
  const pairs: Record<string, [unknown, unknown]> = {
    messages: [transcript.messages, shown.messages.nodes],
    status: [transcript.status, shown.status],
    queue: [transcript.queue, queued],
    failure: [transcript.failure, shown.lastError],
    preview: [transcript.preview, null],
  };
  const wrong = Object.entries(pairs)
    .filter(([, [seen, saved]]) => JSON.stringify(seen) !== JSON.stringify(saved))
    .map(
      ([what, [seen, saved]]) =>
        `${who} has another ${what}: ${JSON.stringify(seen)} instead of ${JSON.stringify(saved)}`,
    );
  return [...transcript.breaches.map((breach) => `${who}: ${breach}`), ...wrong];
}

/** `assistant: One two; calls execute` */
function wordsOf({ role, parts }: Message): string {
  return `${role.toLowerCase()}: ${parts.map(partWords).join("; ")}`;
}

function partWords(part: Part): string {
  switch (part.__typename) {
    case "TextPart":
      return String(part.text)
        .replace(/^cell-\d+- /, "")
        .trim();
    case "ReasoningPart":
      return `(${String(part.text).trim()})`;
    case "ToolCallPart":
      return `calls ${String(part.toolName)}`;
    default:
      return `${String(part.toolName)} ${resultWords(part)}`;
  }
}

function resultWords({ toolName, result, isError }: Part): string {
  const text = JSON.stringify(result);
  const known = ["interrupted", "cancelled", "workspace"].find((word) => isError && text.includes(word));
  if (known !== undefined) return known;
  const { output, error } = (result ?? {}) as { output?: string; error?: string };
  // A command whose agent died gets either message, depending on whether the next agent is already connected.
  if (/outcome is unknown|cannot be reached/.test(error ?? "")) return "lost";
  if (isError || error !== undefined) return toolName === "execute" ? `failed: ${error}` : "failed";
  if (toolName === "chat_summarized") return "ok";
  return output === undefined ? text : `ok ${output.trim()}`;
}
