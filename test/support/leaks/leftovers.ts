// What is open in this process: sockets, servers, watchers, timers, child processes, and what tests noted. Compared
// with an earlier moment, it is what was left behind since.
import { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Server, Socket } from "node:net";
import { openThings } from "./open-things.js";

/** The moment to compare with. */
export type Before = { handles: Set<unknown>; timers: number; children: Set<number>; things: number };

/** Undocumented, and in every Node: what keeps the process alive, apart from timers and requests. */
const activeHandles = (): object[] => (process as unknown as Internals)._getActiveHandles();
type Internals = { _getActiveHandles(): object[] };

export function openNow(): Before {
  return {
    handles: new Set(activeHandles()),
    timers: countTimers(),
    children: new Set(childIds()),
    things: openThings().length,
  };
}

/** What is open now and was not before, named; empty when there is nothing. */
export function leftSince(before: Before): string[] {
  const handles = activeHandles().filter((handle) => !before.handles.has(handle));
  const timers = countTimers() - before.timers;
  const children = childIds().filter((id) => !before.children.has(id));
  return [
    ...openThings().slice(before.things),
    ...handles.filter((handle) => !(handle instanceof ChildProcess)).map(nameOf),
    ...children.map((id) => `the process ${id}: ${commandOf(id)}`),
    ...(timers > 0 ? [timers === 1 ? "a timer" : `${timers} timers`] : []),
  ];
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

function nameOf(handle: object): string {
  if (handle instanceof Server) return `a server that listens at ${JSON.stringify(handle.address())}`;
  if (handle instanceof Socket) {
    const { remoteAddress, remotePort, localPort } = handle;
    if (remotePort === undefined) return "a pipe";
    return `a connection from port ${localPort} to ${remoteAddress}:${remotePort}`;
  }
  return `a ${handle.constructor.name}`;
}

/** Of this process, also those that do not keep it alive. None where there is no /proc. */
function childIds(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/task").flatMap((thread) => numbersIn(`/proc/self/task/${thread}/children`));
}

function numbersIn(path: string): number[] {
  return textOf(path).split(" ").filter(Boolean).map(Number);
}

function commandOf(id: number): string {
  return textOf(`/proc/${id}/cmdline`).split("\0").join(" ").trim() || "ended, but not waited for";
}

/** Empty when the process or thread is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
