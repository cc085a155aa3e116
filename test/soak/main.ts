// `npm run soak`: the full soak test against real server processes. Options, as arguments or environment variables
// (SOAK_SEED, SOAK_CHATS, ...): --seed=N --chats=N --turns=N --servers=N --users=N --redis=1 (servers share a Redis).
// Exits with 1 and prints the seed when an invariant was violated. Network faults: --chaos=N (drops, duplicates, delays or
// reorders N % of Redis messages) --cuts=N (mean milliseconds between two cut connections) --redis-stops=N (20 s each)
// --strikes=kill (every server fault is a kill -9). Database faults, on a PostgreSQL of the soak's own: --database=N (mean
// milliseconds between two faults: broken connections; slow, unresponsive or locked for longer than a lease; restarts)
// --lease=N (lease of all servers, in milliseconds).
import { parseArgs } from "node:util";
import { Databases } from "../../bench/databases.js";
import { Tally } from "./chance.js";
import { DatabaseFaults } from "./database-faults.js";
import { openProcesses, REDIS_ABSENCE_MS, type StrikeKind } from "./processes.js";
import { runSoak, type Violation } from "./soak.js";
import { Vendor } from "./vendor.js";

const DEFAULTS = {
  seed: 0,
  chats: 200,
  turns: 20,
  servers: 3,
  users: 60,
  peace: 3_000,
  faults: 18,
  redis: 0,
  chaos: 0,
  cuts: 0,
  "redis-stops": 0,
  database: 0,
  lease: 3_000,
};
type Numbers = typeof DEFAULTS;
type Options = Numbers & { strikes: StrikeKind };

/** Environment variable of an option. */
const variableOf = (name: string) => `SOAK_${name.toUpperCase().replaceAll("-", "_")}`;

/** Arguments override the environment; a seed of 0 is replaced by a random one. */
function readOptions(): Options {
  const names = [...Object.keys(DEFAULTS), "strikes"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ options });
  const numbers = Object.entries(DEFAULTS).map(([name, defaultValue]) => {
    const text = values[name] ?? process.env[variableOf(name)];
    const number = text === undefined ? defaultValue : Number(text);
    if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} must be a whole number.`);
    return [name, number];
  });
  const read = Object.fromEntries(numbers) as Numbers;
  const strikes = values["strikes"] ?? process.env[variableOf("strikes")] ?? "mixed";
  if (strikes !== "mixed" && strikes !== "kill") throw new Error("--strikes must be mixed or kill.");
  if (read.chaos > 100) throw new Error("--chaos must be a percentage.");
  if (read.lease < 1_000) throw new Error("--lease must be at least 1000.");
  if (read.redis === 0 && (read.chaos > 0 || read["redis-stops"] > 0))
    throw new Error("--chaos and --redis-stops need --redis=1.");
  return { ...read, seed: read.seed || 1 + Math.floor(Math.random() * 2 ** 31), strikes };
}

/** Command that repeats the run. */
const commandOf = (options: Options) =>
  `npm run soak -- ${Object.entries(options)
    .map(([name, value]) => `--${name}=${value}`)
    .join(" ")}`;

const startedAt = Date.now();
const print = (line: string) => void process.stdout.write(`${line}\n`);
const report = (line: string) => print(`[${Math.round((Date.now() - startedAt) / 1_000)} s] ${line}`);

async function main(): Promise<number> {
  const options = readOptions();
  const { servers, seed, chats, turns, users, strikes, chaos, cuts, "redis-stops": redisStops } = options;
  print(`Soak: ${commandOf(options)}`);
  const tally = new Tally();
  const vendor = new Vendor(seed, tally, options.faults);
  const { database: everyMs, lease: leaseMs } = options;
  const databases = everyMs > 0 ? null : await Databases.open();
  const deployment = await openProcesses({
    servers,
    database: databases
      ? (await databases.create("soak")).url
      : await DatabaseFaults.open({ seed, everyMs, leaseMs, tally }),
    leaseMs,
    withRedis: options.redis > 0,
    isRedisStruck: redisStops === 0,
    redisAbsenceMs: REDIS_ABSENCE_MS,
    strikes,
    networkFaults: chaos > 0 || cuts > 0 ? { seed, chaos, cuts } : null,
    tally,
    answer: (request) => vendor.answer(request),
  });
  const violations: Violation[] = [];
  try {
    const pace = { meanPeaceMs: options.peace, patienceMs: 8_000, redisStops };
    violations.push(
      ...(await runSoak(deployment, { vendor, tally }, { seed, chats, turns, users, ...pace, report })),
    );
    for (const line of [...tally.lines(), ...(await deployment.remarks())]) print(line);
  } finally {
    violations.push(...(await deployment.close()).map((sentence) => ({ sentence })));
    await databases?.close();
  }
  for (const { sentence, evidence } of violations)
    print(`\nVIOLATION: ${sentence}${evidence ? `\n${evidence}` : ""}`);
  report(
    violations.length === 0
      ? `No violations (seed ${seed}).`
      : `${violations.length} violations. Reproduce: ${commandOf(options)}`,
  );
  return violations.length === 0 ? 0 : 1;
}

process.exitCode = await main();
