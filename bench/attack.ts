/**
 * `npm run bench:attack`: the experience of members while the server is under attack. See --help.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Arena, type Tokens } from "./attack-arena.js";
import { Members, type Seen } from "./attack-members.js";
import type { AttackCounts, AttackSettings } from "./attacker.js";
import { textOf } from "./chat.js";
import { describeMachine } from "./machine.js";
import { type ParleyAddress, startParleyChat } from "./parley-chat.js";
import { SERVER, startBenchProgram } from "./programs.js";
import { percentile } from "./statistics.js";
import { renderTable, type Row, showNumber } from "./table.js";

const HELP = `Usage: npm run bench:attack -- [--attack LIST] [--server FILE] [--members N] [--seconds N] [--save NAME]

Members read, talk and follow at a gentle pace, each second something; beside them one member or a stranger attacks.
Each attack has a fresh server with a heap of 1.5 GB, and a process of its own.

  --attack LIST   of none, cpu-8, cpu-40, strangers, bytes, separated by commas (default: all of them)
                  cpu-N: N connections with a READ token send a document of 4.5 kB that is dear to validate
                  strangers: 10,000 sockets from one address that never say who they are, and come back
                  bytes: 50 queued messages of 900 kB, read with 15 aliases, and 60 sockets that do not read
  --server FILE   the compiled server of another checkout, dist/bin/server.js, to be attacked in the same way
  --members N     members beside the attacker (default: 20)
  --seconds N     how long each attack lasts (default: 30)
  --save NAME     also writes the table to bench/results/NAME.txt
`;

const ATTACKS = ["none", "cpu-8", "cpu-40", "strangers", "bytes"] as const;
type AttackName = (typeof ATTACKS)[number];

/** Members warm up before the attack begins. */
const WARM_UP_MS = 5_000;
const PROBE_INTERVAL_MS = 500;
/** An orchestrator's probe timeout. */
const PROBE_LIMIT_MS = 2_000;
const STRANGERS = 10_000;
const QUEUED = { messages: 50, characters: 900_000 };
const HUGE_READERS = 4;
const DEAF_SOCKETS = 60;
/** The aim of the issue, for cpu-40. */
const MAX_P99_MS = 1_000;
const INTERRUPTED = 130;
const RESULTS = join(import.meta.dirname, "results");
const HEADINGS = ["", "p50", "p99", "longest", "goal"];

type Wanted = { server: string; members: number; seconds: number };
type Probes = { asked: number; failed: number; longestMs: number };
type Outcome = { seen: Seen; probes: Probes; peakMb: number | null; attacker: AttackCounts | null };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      attack: { type: "string", default: ATTACKS.join() },
      server: { type: "string", default: SERVER },
      members: { type: "string", default: "20" },
      seconds: { type: "string", default: "30" },
      save: { type: "string" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const attacks = values.attack.split(",").map((name) => {
    const known = ATTACKS.find((attack) => attack === name);
    if (!known) throw new Error(`There is no attack ${name}; there are ${ATTACKS.join(", ")}.`);
    return known;
  });
  const wanted = {
    server: resolve(values.server),
    members: Number(values.members),
    seconds: Number(values.seconds),
  };
  const arena = await Arena.open(wanted.server);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void arena.close().finally(() => process.exit(INTERRUPTED)));
  }
  try {
    const machine = describeMachine(arena.databases.description);
    process.stderr.write("Creating users and their tokens …\n");
    const tokens = await arena.makeTokens(wanted.members);
    const sections = [];
    for (const attack of attacks) {
      process.stderr.write(`${attack} …\n`);
      sections.push({
        title: titleOf(attack, wanted),
        rows: rowsOf(attack, await measure({ arena, tokens, seconds: wanted.seconds }, attack)),
      });
    }
    const text = `${machine}\nTimes in milliseconds.\n\n${renderTable(sections, HEADINGS)}\n`;
    process.stdout.write(text);
    if (values.save === undefined) return;
    await mkdir(RESULTS, { recursive: true });
    await writeFile(join(RESULTS, `${values.save}.txt`), text);
  } finally {
    await arena.close();
  }
}

type Parts = { arena: Arena; tokens: Tokens; seconds: number };

async function measure({ arena, tokens, seconds }: Parts, attack: AttackName): Promise<Outcome> {
  const program = await arena.startServer();
  const { url, processId } = program;
  const members = new Members();
  await members.begin(tokens.members.map((token) => ({ url, token })));
  const settings = await prepare(attack, url, tokens);
  await sleep(WARM_UP_MS);
  members.forget();
  const probing = probe(url, seconds * 1_000);
  const attacker = settings && (await startBenchProgram("attacker", settings));
  const memory = watchMemory(processId);
  const probes = await probing;
  const peakMb = memory.end();
  const counts = ((await attacker?.stop()) ?? null) as AttackCounts | null;
  await members.end();
  await program.stop().catch(() => undefined);
  return { seen: members.seen, probes, peakMb, attacker: counts };
}

async function prepare(attack: AttackName, url: string, tokens: Tokens): Promise<AttackSettings | null> {
  if (attack === "none") return null;
  if (attack === "strangers") return { attack, url, sockets: STRANGERS };
  if (attack !== "bytes")
    return { attack: "cpu", url, token: tokens.reader, connections: Number(attack.slice("cpu-".length)) };
  const address = { url, token: tokens.talker };
  const chatId = await fillQueue(address);
  return { attack, ...address, chatId, readers: HUGE_READERS, sockets: DEAF_SOCKETS };
}

/** A chat that is busy for long, with a full queue. */
async function fillQueue(address: ParleyAddress): Promise<string> {
  const chatId = await startParleyChat(address, { deltas: 1, delayMs: 1 });
  await send(address, chatId, textOf({ deltas: 100, delayMs: 10_000 }));
  for (let number = 0; number < QUEUED.messages; number += 1)
    await send(address, chatId, "x".repeat(QUEUED.characters));
  return chatId;
}

async function send({ url, token }: ParleyAddress, chatId: string, text: string): Promise<void> {
  const query = `mutation($input: SendChatMessageInput!) { sendChatMessage(input: $input) { userErrors { message } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { input: { chatId, parts: [{ text: { text } }] } } }),
  });
  if (!response.ok) throw new Error(`The queue could not be filled: ${await response.text()}`);
}

async function probe(url: string, forMs: number): Promise<Probes> {
  const probes = { asked: 0, failed: 0, longestMs: 0 };
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const startedAt = performance.now();
    probes.asked += 1;
    const isWell = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isWell) probes.failed += 1;
    const tookMs = performance.now() - startedAt;
    probes.longestMs = Math.max(probes.longestMs, tookMs);
    await sleep(Math.max(0, PROBE_INTERVAL_MS - tookMs));
  }
  return probes;
}

/** Peak memory of the process so far; null when it has died. */
function watchMemory(processId: number): { end(): number | null } {
  let peakMb: number | null = null;
  const sample = async () => {
    const text = await readFile(`/proc/${processId}/status`, "utf8").catch(() => "");
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(text)?.[1];
    peakMb = kilobytes === undefined ? null : Number(kilobytes) / 1_024;
  };
  const timer = setInterval(() => void sample(), PROBE_INTERVAL_MS);
  return {
    end() {
      clearInterval(timer);
      return peakMb;
    },
  };
}

function titleOf(attack: AttackName, { members, seconds }: Wanted): string {
  return `${attack === "none" ? "No attack" : `Attack: ${attack}`} (${members} members, ${seconds} s)`;
}

function rowsOf(attack: AttackName, { seen, probes, peakMb, attacker }: Outcome): Row[] {
  const times = (label: string, values: number[], goal?: Row["goal"]): Row => ({
    label: `${label} (${values.length})`,
    parley: showNumber(percentile(values, 50), 0),
    floor: showNumber(percentile(values, 99), 0),
    ratio: showNumber(Math.max(...values), 0),
    goal,
  });
  const p99 = percentile(seen.requests, 99);
  const failed = [...seen.failures].map(([what, count]): Row => ({
    label: `  ${what}`,
    ratio: String(count),
  }));
  return [
    times("members' requests", seen.requests, { text: `p99 < ${MAX_P99_MS}`, isMet: p99 < MAX_P99_MS }),
    times("members' messages until the first event of the answer", seen.answers),
    times("new sockets until they are acknowledged", seen.greetings),
    { label: "members' sockets that were cut", ratio: String(seen.lostSockets) },
    ...failed,
    {
      label: `/readyz, asked ${probes.asked} times, longest`,
      ratio: showNumber(probes.longestMs, 0),
      goal: { text: `${probes.failed} failed; none should`, isMet: probes.failed === 0 },
    },
    { label: "most memory of the server, MB", ratio: peakMb === null ? "it died" : showNumber(peakMb, 0) },
    ...(attacker === null || attack === "none"
      ? []
      : [
          {
            label: `attacker: ${attacker.sent} sent, ${attacker.answered} answered, ${attacker.refused} refused, ${attacker.failed} without an answer, ${showNumber(attacker.bytes / 1e6, 0)} MB`,
          },
        ]),
  ];
}

await main();
