/**
 * All commands of this agent: starts them, finds them again, ends them.
 * States: open → closed (by `close`). Once closed nothing starts, also not a start that was under way.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { cutText } from "../../lib/text/utf8.js";
import { done, errorText, refused, type Outcome, type Refusal } from "../outcome.js";
import {
  MAX_OUTPUT_WAIT_MS,
  type ProcessList,
  type ProcessOutput,
  type SignalProcessRequest,
  type StartProcessAnswer,
  type StartProcessRequest,
} from "../protocol/processes.js";
import { agentMark, commandEnvironment, type AskpassConfig, type Environment } from "./environment.js";
import { terminateAll } from "./terminate-all.js";
import { commandPriority, launch, type Priority, type StartedShell } from "./launch.js";
import type { OutputFeed } from "./output-feed.js";
import { closePipe, OutputPipes } from "./output-pipes.js";
import { findLivingGroups, isGroupAlive, signalGroup } from "./process-group.js";
import { type LivingProcess, type ProcessLimits, refuseStart } from "./process-limits.js";
import { findForgettable, MAX_PROCESSES } from "./retention.js";
import { ShellProcess } from "./shell-process.js";
import { chooseWorkingDirectory } from "./working-directory.js";

/** More would flood a model; it can signal and read the others by id. */
const MAX_LISTED = 10;
/** Enough to recognise a command; a thousand kept processes then hold 4 MiB of them, and not 128. */
const MAX_KEPT_COMMAND_BYTES = 4 * 1024;

/** On whose behalf a request is made; without a chat id it may see everything. */
export type ChatScope = {
  chatId: string | undefined;
  ancestorChatIds: readonly string[];
  /** The chat's owner, as far as the caller says. */
  userId?: string | undefined;
};

/** A start that may be asked for again: the same key with other input is a conflict. */
type KeyedStart = { fingerprint: string; outcome: Promise<Outcome<StartProcessAnswer>> };

export type ProcessRegistryOptions = {
  directory: string;
  homeDirectory: string;
  environment: Environment;
  /** Marks what commands start, to find it when the agent ends. */
  instanceId: string;
  /** How much commands stand back behind all others, 0 to 19; see `nice`. */
  nice: number;
  /** How many may run at the same time. */
  limits: ProcessLimits;
  /** Where the git of a chat's commands asks for credentials; null: nowhere. Must not throw. */
  askpassFor?: (chatId: string | undefined) => AskpassConfig | null;
  /** Hears of every command that has begun to run, before any of its output; must not throw. */
  onStart?: (shell: StartedShell, process: ShellProcess) => void;
  clock: Clock;
  log: Log;
};

export class ProcessRegistry {
  readonly #processes = new Map<string, ShellProcess>();
  readonly #keyedStarts = new Map<string, KeyedStart>();
  /** By group, those whose shell ended but not all of its children; ended with the agent. */
  readonly #lingering = new Map<number, ShellProcess>();
  readonly #pipes: OutputPipes;
  readonly #priority: Priority;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: ProcessRegistryOptions) {
    this.#pipes = new OutputPipes(options.log);
    this.#priority = commandPriority(options.nice);
  }

  /** Runs a command, or attaches to the one that the same key started in the same chat. */
  async start(request: StartProcessRequest, scope: ChatScope): Promise<Outcome<StartProcessAnswer>> {
    this.#forgetOld();
    if (request.idempotencyKey === undefined) return this.#startNew(request, scope, undefined);
    const key = JSON.stringify([scope.chatId ?? null, request.idempotencyKey]);
    const fingerprint = fingerprintOf(request);
    const earlier = this.#keyedStarts.get(key);
    if (earlier !== undefined) return attachTo(earlier, fingerprint);
    const outcome = this.#startNew(request, scope, key);
    this.#keyedStarts.set(key, { fingerprint, outcome });
    let hasStarted = false;
    try {
      const settled = await outcome;
      hasStarted = settled.kind === "done";
      return settled;
    } finally {
      // A start that failed ran nothing, so the key is free for another attempt.
      if (!hasStarted) this.#keyedStarts.delete(key);
    }
  }

  list(scope: ChatScope): ProcessList {
    this.#forgetOld();
    const visible = [...this.#processes.values()].filter(
      ({ facts }) => scope.chatId === undefined || facts.chatId === scope.chatId,
    );
    // The map is in order of start, so reversing puts the newest first, also within one millisecond.
    const newestFirst = visible.reverse();
    const ordered = [
      ...newestFirst.filter((process) => process.isRunning),
      ...newestFirst.filter((process) => this.#isLingering(process)),
      ...newestFirst.filter((process) => !process.isRunning && !this.#isLingering(process)),
    ];
    return {
      processes: ordered.slice(0, MAX_LISTED).map((process) => ({
        ...process.summary(),
        ...(this.#isLingering(process) && { childrenRunning: true }),
      })),
      total: ordered.length,
    };
  }

  output(id: string, scope: ChatScope): Outcome<ProcessOutput> {
    const process = this.#find(id, scope);
    return process === undefined ? unknownProcess(id) : done(process.read());
  }

  /** What it says, for one who follows it while it runs. */
  feed(id: string, scope: ChatScope): Outcome<OutputFeed> {
    const process = this.#find(id, scope);
    return process === undefined ? unknownProcess(id) : done(process.feed);
  }

  /** As `output`, but first waits for the end, for `timeoutMs` (at most `MAX_OUTPUT_WAIT_MS`), or for `signal`. */
  async outputAfterExit(
    id: string,
    scope: ChatScope,
    wait: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Outcome<ProcessOutput>> {
    const process = this.#find(id, scope);
    if (process === undefined) return unknownProcess(id);
    await process.waitForExit(Math.min(wait.timeoutMs, MAX_OUTPUT_WAIT_MS), wait.signal);
    return done(process.read());
  }

  /** Signals the whole process group, also when only children of an ended process are left in it. */
  signal(id: string, scope: ChatScope, signal: SignalProcessRequest["signal"]): Outcome<{ message: string }> {
    const process = this.#find(id, scope);
    if (process === undefined) return unknownProcess(id);
    const hasEnded = refused(409, `Process ${id} has already exited.`);
    this.#forgetEndedGroups();
    if (!process.isRunning && !this.#isLingering(process)) return hasEnded;
    try {
      const wasSent = signalGroup(process.facts.groupId, signal === "kill" ? "SIGKILL" : "SIGTERM");
      return wasSent ? done({ message: `Signal "${signal}" sent to process ${id}.` }) : hasEnded;
    } catch (error) {
      return refused(500, `Process ${id} could not be signalled.`, { detail: errorText(error) });
    }
  }

  /** Ends every command and its children; resolves when they are gone. Calling it again waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#terminateAll();
    return this.#closing;
  }

  async #terminateAll(): Promise<void> {
    const { instanceId, clock, log } = this.options;
    this.#forgetEndedGroups();
    const running = [...this.#processes.values()].filter((process) => process.isRunning);
    const groupIds = [...running.map(({ facts }) => facts.groupId), ...this.#lingering.keys()];
    const ended = running.map((process) => new Promise<void>((resolve) => process.onExit(resolve)));
    await terminateAll({ groupIds, mark: agentMark(instanceId), clock, log });
    await Promise.all(ended);
    this.#pipes.close();
  }

  async #startNew(
    request: StartProcessRequest,
    scope: ChatScope,
    startKey: string | undefined,
  ): Promise<Outcome<StartProcessAnswer>> {
    const directory = await chooseWorkingDirectory({
      wanted: request.workdir,
      agentDirectory: this.options.directory,
      homeDirectory: this.options.homeDirectory,
    });
    if (directory.kind === "refused") return directory;
    const pipe = await this.#pipes.take();
    // From here to the entry in the map nothing is awaited: `close` either stops the start or finds the process, and
    // starts at the same time count each other.
    const refusal = this.#refusal(scope);
    if (refusal !== undefined) {
      if (pipe !== undefined) closePipe(pipe);
      return refusal;
    }
    const environment = commandEnvironment({
      inherited: this.options.environment,
      requested: request.env,
      chatId: scope.chatId,
      instanceId: this.options.instanceId,
      askpass: this.options.askpassFor?.(scope.chatId) ?? null,
    });
    const shell = launch({
      command: request.command,
      directory: directory.value,
      environment,
      priority: this.#priority,
      pipe,
    });
    if (shell instanceof Promise) return shell;
    const facts = {
      id: randomUUID(),
      command: cutText(request.command, MAX_KEPT_COMMAND_BYTES),
      workdir: directory.value,
      background: request.background ?? false,
      chatId: scope.chatId,
      userId: scope.userId,
      ancestorChatIds: scope.ancestorChatIds,
      startKey,
      groupId: shell.groupId,
    };
    this.#keep(shell, new ShellProcess(shell, facts, this.options.clock));
    return done({ id: facts.id, started: true, attached: false });
  }

  #refusal({ chatId, userId }: ChatScope): Refusal | undefined {
    if (this.#closing !== undefined) return refused(503, "The workspace agent is shutting down.");
    const refuse = () => refuseStart(this.#living(), { chatId, userId }, this.options.limits);
    // What looks alive by its group may be zombies that nobody collects; to tell takes a look at every process.
    if (refuse() !== undefined) this.#forgetZombies();
    const tooMany = refuse();
    if (tooMany !== undefined) return refused(429, tooMany);
    if (this.#processes.size >= MAX_PROCESSES) this.#forgetOld();
    if (this.#processes.size < MAX_PROCESSES) return undefined;
    return refused(429, `${MAX_PROCESSES} processes are running already; end some of them first.`);
  }

  #keep(shell: StartedShell, process: ShellProcess): void {
    const { id, groupId } = process.facts;
    this.#processes.set(id, process);
    shell.child.on("error", (error) =>
      this.options.log.warn({ err: error, processId: id }, "A process reported an error"),
    );
    process.onExit(() => {
      if (isGroupAlive(groupId)) this.#lingering.set(groupId, process);
    });
    this.options.onStart?.(shell, process);
  }

  #find(id: string, scope: ChatScope): ShellProcess | undefined {
    const process = this.#processes.get(id);
    const ownerId = process?.facts.chatId;
    const isForeign = scope.chatId !== undefined && ownerId !== undefined && ownerId !== scope.chatId;
    return isForeign ? undefined : process;
  }

  #forgetOld(): void {
    this.#forgetEndedGroups();
    const retained = [...this.#processes.values()].map(({ facts, exitedAtMs }) => ({
      id: facts.id,
      isKeyed: facts.startKey !== undefined,
      // What still has children is there to be signalled.
      exitedAtMs: this.#lingering.has(facts.groupId) ? undefined : exitedAtMs,
    }));
    for (const id of findForgettable(retained, this.options.clock.now())) {
      const startKey = this.#processes.get(id)?.facts.startKey;
      if (startKey !== undefined) this.#keyedStarts.delete(startKey);
      this.#processes.delete(id);
    }
  }

  /** A group id is only ours while the group has members: afterwards the system may give it to another. */
  #forgetEndedGroups(): void {
    for (const groupId of this.#lingering.keys()) {
      if (!isGroupAlive(groupId)) this.#lingering.delete(groupId);
    }
  }

  #forgetZombies(): void {
    if (this.#lingering.size === 0) return;
    const living = findLivingGroups(this.#lingering.keys());
    for (const groupId of this.#lingering.keys()) {
      if (!living.has(groupId)) this.#lingering.delete(groupId);
    }
  }

  #isLingering({ facts, isRunning }: ShellProcess): boolean {
    return !isRunning && this.#lingering.has(facts.groupId);
  }

  /** In order of start. */
  #living(): LivingProcess[] {
    return [...this.#processes.values()]
      .filter((process) => process.isRunning || this.#isLingering(process))
      .map(({ facts: { id, command, chatId, userId }, isRunning }) => ({
        ...{ id, command, chatId, userId, isRunning },
      }));
  }
}

async function attachTo(earlier: KeyedStart, fingerprint: string): Promise<Outcome<StartProcessAnswer>> {
  if (earlier.fingerprint !== fingerprint) {
    return refused(409, "This idempotency key already started a different command.", {
      field: "idempotencyKey",
    });
  }
  const outcome = await earlier.outcome;
  return outcome.kind === "refused" ? outcome : done({ ...outcome.value, started: false, attached: true });
}

/** A digest, because the input itself may be large and is kept for an hour. */
function fingerprintOf({ command, workdir, env, background }: StartProcessRequest): string {
  const variables = Object.entries(env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const input = JSON.stringify([command, workdir ?? null, variables, background ?? false]);
  return createHash("sha256").update(input).digest("hex");
}

/** The same words for a process that never was and for another chat's: a chat learns nothing of others. */
function unknownProcess(id: string): Refusal {
  return refused(404, `Process ${id} was not found.`, { field: "id" });
}
