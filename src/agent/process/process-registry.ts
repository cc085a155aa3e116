/**
 * Registry of all commands of this agent: starts, finds, lists, signals and ends them.
 * States: open → closed (by `close`). Once closed nothing starts, not even a start that was under way.
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
import { findEvictable, MAX_PROCESSES } from "./retention.js";
import { ShellProcess } from "./shell-process.js";
import { chooseWorkingDirectory } from "./working-directory.js";

/** More would flood a model; the others can be read and signalled by id. */
const MAX_LISTED = 10;
/** Enough to recognise a command; limits a thousand retained processes to 4 MiB instead of 128. */
const MAX_RETAINED_COMMAND_BYTES = 4 * 1024;

/** The chat that a request is for; without a chat id it has access to all processes. */
export type ChatScope = {
  chatId: string | undefined;
  ancestorChatIds: readonly string[];
  /** The chat's owner, if the client names it. */
  userId?: string | undefined;
};

/** A start with an idempotency key: the same key with other input is a conflict. */
type KeyedStart = { fingerprint: string; outcome: Promise<Outcome<StartProcessAnswer>> };

export type ProcessRegistryOptions = {
  directory: string;
  homeDirectory: string;
  environment: Environment;
  /** Marks the descendants of commands; see `agentMark`. */
  instanceId: string;
  /** Niceness of commands, 0 to 19; see `nice`. */
  nice: number;
  limits: ProcessLimits;
  /** Askpass settings for the git of a chat's commands; null: none. Must not throw. */
  askpassFor?: (chatId: string | undefined) => AskpassConfig | null;
  /** Called for every started command, before any of its output; must not throw. */
  onStart?: (shell: StartedShell, process: ShellProcess) => void;
  clock: Clock;
  log: Log;
};

export class ProcessRegistry {
  readonly #processes = new Map<string, ShellProcess>();
  readonly #keyedStarts = new Map<string, KeyedStart>();
  /** By group id: processes whose shell has ended, but not all of its children. These end with the agent. */
  readonly #lingering = new Map<number, ShellProcess>();
  readonly #pipes: OutputPipes;
  readonly #priority: Priority;
  #hasStarted = false;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: ProcessRegistryOptions) {
    this.#pipes = new OutputPipes(options);
    this.#priority = commandPriority(options.nice);
  }

  /** Runs a command, or attaches to the one that the same key started in the same chat. */
  async start(request: StartProcessRequest, scope: ChatScope): Promise<Outcome<StartProcessAnswer>> {
    this.#evictOld();
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
      // A failed start has run nothing, so the key is free for another attempt.
      if (!hasStarted) this.#keyedStarts.delete(key);
    }
  }

  list(scope: ChatScope): ProcessList {
    this.#evictOld();
    const visible = [...this.#processes.values()].filter(
      ({ facts }) => scope.chatId === undefined || facts.chatId === scope.chatId,
    );
    // The map is in order of start: reversed, the newest comes first, also within one millisecond.
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

  /** The live output of a process. */
  feed(id: string, scope: ChatScope): Outcome<OutputFeed> {
    const process = this.#find(id, scope);
    return process === undefined ? unknownProcess(id) : done(process.feed);
  }

  /** As `output`, but first waits for the exit, `timeoutMs` (at most `MAX_OUTPUT_WAIT_MS`), or `signal`. */
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
    this.#removeEndedGroups();
    if (!process.isRunning && !this.#isLingering(process)) return hasEnded;
    try {
      const wasSent = signalGroup(process.facts.groupId, signal === "kill" ? "SIGKILL" : "SIGTERM");
      return wasSent ? done({ message: `Signal "${signal}" sent to process ${id}.` }) : hasEnded;
    } catch (error) {
      return refused(500, `Process ${id} could not be signalled.`, { detail: errorText(error) });
    }
  }

  /** Ends every command and its children; resolves when they are gone. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#terminateAll();
    return this.#closing;
  }

  async #terminateAll(): Promise<void> {
    const { instanceId, clock, log } = this.options;
    this.#removeEndedGroups();
    const running = [...this.#processes.values()].filter((process) => process.isRunning);
    const groupIds = [...running.map(({ facts }) => facts.groupId), ...this.#lingering.keys()];
    const ended = running.map((process) => new Promise<void>((resolve) => process.onExit(resolve)));
    // Looking for descendants reads all of /proc, for nothing if there was no command.
    if (this.#hasStarted) await terminateAll({ groupIds, mark: agentMark(instanceId), clock, log });
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
    // No `await` from here to the entry in the map: `close` either prevents the start or finds the process, and
    // concurrent starts count each other.
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
      command: cutText(request.command, MAX_RETAINED_COMMAND_BYTES),
      workdir: directory.value,
      background: request.background ?? false,
      chatId: scope.chatId,
      userId: scope.userId,
      ancestorChatIds: scope.ancestorChatIds,
      startKey,
      groupId: shell.groupId,
    };
    this.#register(shell, new ShellProcess(shell, facts, this.options.clock));
    return done({ id: facts.id, started: true, attached: false });
  }

  #refusal({ chatId, userId }: ChatScope): Refusal | undefined {
    if (this.#closing !== undefined) return refused(503, "The workspace agent is shutting down.");
    const refuse = () => refuseStart(this.#living(), { chatId, userId }, this.options.limits);
    // A group that looks alive may consist of zombies; to find out, all of /proc must be read.
    if (refuse() !== undefined) this.#removeZombieGroups();
    const tooMany = refuse();
    if (tooMany !== undefined) return refused(429, tooMany);
    if (this.#processes.size >= MAX_PROCESSES) this.#evictOld();
    if (this.#processes.size < MAX_PROCESSES) return undefined;
    return refused(429, `${MAX_PROCESSES} processes are running already; end some of them first.`);
  }

  #register(shell: StartedShell, process: ShellProcess): void {
    const { id, groupId } = process.facts;
    this.#hasStarted = true;
    this.#processes.set(id, process);
    shell.child.on("error", (error) =>
      this.options.log.warn({ err: error, processId: id }, "process reported an error"),
    );
    process.onExit(() => {
      if (isGroupAlive(groupId)) this.#lingering.set(groupId, process);
    });
    this.options.onStart?.(shell, process);
  }

  #find(id: string, scope: ChatScope): ShellProcess | undefined {
    const process = this.#processes.get(id);
    const ownerId = process?.facts.chatId;
    const isOtherChats = scope.chatId !== undefined && ownerId !== undefined && ownerId !== scope.chatId;
    return isOtherChats ? undefined : process;
  }

  #evictOld(): void {
    this.#removeEndedGroups();
    const retained = [...this.#processes.values()].map(({ facts, exitedAtMs }) => ({
      id: facts.id,
      isKeyed: facts.startKey !== undefined,
      // A process whose children still run can be signalled.
      exitedAtMs: this.#lingering.has(facts.groupId) ? undefined : exitedAtMs,
    }));
    for (const id of findEvictable(retained, this.options.clock.now())) {
      const startKey = this.#processes.get(id)?.facts.startKey;
      if (startKey !== undefined) this.#keyedStarts.delete(startKey);
      this.#processes.delete(id);
    }
  }

  /** The system may reuse the id of an empty group. */
  #removeEndedGroups(): void {
    for (const groupId of this.#lingering.keys()) {
      if (!isGroupAlive(groupId)) this.#lingering.delete(groupId);
    }
  }

  #removeZombieGroups(): void {
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

/** A digest, because the input may be large and is retained for an hour. */
function fingerprintOf({ command, workdir, env, background }: StartProcessRequest): string {
  const variables = Object.entries(env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const input = JSON.stringify([command, workdir ?? null, variables, background ?? false]);
  return createHash("sha256").update(input).digest("hex");
}

/** The same message for unknown processes and for those of other chats, so that a chat learns nothing of others. */
function unknownProcess(id: string): Refusal {
  return refused(404, `Process ${id} was not found.`, { field: "id" });
}
