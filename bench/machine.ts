/** CPU time of other processes, as Linux accounts for it: nanoseconds on a CPU, in user and kernel mode, per thread. */
import { readdir, readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";

/** The processes to sample now; those that come and go between two samples are included in the sum. */
export type ListProcesses = () => Promise<readonly number[]>;

/**
 * Adds up what a changing set of processes has used. What a thread had used when it was last seen stays counted
 * after its end, so sample at least as often as its idle time before the end (10 s for pooled database connections).
 */
export class CpuMeter {
  readonly #usedNs = new Map<string, number>();

  constructor(private readonly list: ListProcesses) {}

  /** Milliseconds used so far by every process ever seen. */
  async read(): Promise<number> {
    for (const processId of await this.list()) {
      for (const [thread, usedNs] of await threadsOf(processId)) this.#usedNs.set(thread, usedNs);
    }
    let sumNs = 0;
    for (const usedNs of this.#usedNs.values()) sumNs += usedNs;
    return sumNs / 1e6;
  }
}

/** Empty for a process that is gone, or on a system without /proc. */
async function threadsOf(processId: number): Promise<[string, number][]> {
  const threads = await readdir(`/proc/${processId}/task`).catch(() => []);
  const used = threads.map(async (thread): Promise<[string, number][]> => {
    // A thread may end between two samples; its usage is known from the last one.
    const text = await readFile(`/proc/${processId}/task/${thread}/schedstat`, "utf8").catch(() => null);
    return text === null ? [] : [[`${processId}/${thread}`, Number(text.split(" ")[0])]];
  });
  return (await Promise.all(used)).flat();
}

/** Whether `processId` is a process of this machine, of that program. */
export async function isLocalProcess(processId: number, program: string): Promise<boolean> {
  const name = await readFile(`/proc/${processId}/comm`, "utf8").catch(() => "");
  return name.trim() === program;
}

/** A clock that all processes of this machine share: microseconds since its start. */
export function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** The machine in one line. */
export function describeMachine(postgres: string): string {
  const cores = cpus();
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const model = cores[0]?.model.trim() || process.arch;
  return `${cores.length} cores (${model}), load ${load} at the start, Node ${process.version}, PostgreSQL ${postgres}`;
}
