// `npm run soak`: the whole soak against real processes. Arguments or environment: --seed=N --chats=N --turns=N
// --servers=N --people=N --redis=1 (a Redis between them), SOAK_SEED, SOAK_CHATS …. Ends with 1, and says the seed, when
// anything was violated. The bad network: --chaos=N (of a hundred news of Redis so many are dropped, doubled, delayed or
// reordered) --cuts=N (milliseconds between two cuts of a connection, on average) --redis-stops=N (20 s each)
// --strikes=kill (every strike on a server is a kill -9). The bad database: --database=N (milliseconds between two strikes on
// a PostgreSQL of the soak's own, on average: connections are broken, it is slow, silent or locked for longer than a lease
// lives, it is restarted) --lease=N (milliseconds; of all servers).
import { parseArgs } from "node:util";
import { Databases } from "../../bench/databases.js";
import { Tally } from "./chance.js";
import { DatabaseTrouble } from "./database-trouble.js";
import { openProcesses, REDIS_ABSENCE_MS, type StrikeKind } from "./processes.js";
import { runSoak, type Violation } from "./soak.js";
import { Vendor } from "./vendor.js";

const DEFAULTS = {
  seed: 0,
  chats: 200,
  turns: 20,
  servers: 3,
  people: 60,
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

/** What the name of an option is in the environment. */
const variableOf = (name: string) => `SOAK_${name.toUpperCase().replaceAll("-", "_")}`;

/** An argument beats the environment; a seed of 0 is drawn. */
function readOptions(): Options {
  const names = [...Object.keys(DEFAULTS), "strikes"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ options });
  const numbers = Object.entries(DEFAULTS).map(([name, usual]) => {
    const text = values[name] ?? process.env[variableOf(name)];
    const number = text === undefined ? usual : Number(text);
    if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} must be a whole number.`);
    return [name, number];
  });
  const read = Object.fromEntries(numbers) as Numbers;
  const strikes = values["strikes"] ?? process.env[variableOf("strikes")] ?? "mixed";
  if (strikes !== "mixed" && strikes !== "kill") throw new Error("--strikes must be mixed or kill.");
  if (read.chaos > 100) throw new Error("--chaos must be a share of a hundred.");
  if (read.lease < 1_000) throw new Error("--lease must be at least 1000.");
  if (read.redis === 0 && (read.chaos > 0 || read["redis-stops"] > 0))
    throw new Error("--chaos and --redis-stops need --redis=1.");
  return { ...read, seed: read.seed || 1 + Math.floor(Math.random() * 2 ** 31), strikes };
}

/** A line to run the same again. */
const lineOf = (options: Options) =>
  `npm run soak -- ${Object.entries(options)
    .map(([name, value]) => `--${name}=${value}`)
    .join(" ")}`;

const startedAt = Date.now();
const say = (line: string) => void process.stdout.write(`${line}\n`);
const tell = (line: string) => say(`[${Math.round((Date.now() - startedAt) / 1_000)} s] ${line}`);

async function main(): Promise<number> {
  const options = readOptions();
  const { servers, seed, chats, turns, people, strikes, chaos, cuts, "redis-stops": redisStops } = options;
  say(`The soak: ${lineOf(options)}`);
  const tally = new Tally();
  const vendor = new Vendor(seed, tally, options.faults);
  const { database: everyMs, lease: leaseMs } = options;
  const databases = everyMs > 0 ? null : await Databases.open();
  const deployment = await openProcesses({
    servers,
    database: databases
      ? (await databases.create("soak")).url
      : await DatabaseTrouble.open({ seed, everyMs, leaseMs, tally }),
    leaseMs,
    withRedis: options.redis > 0,
    isRedisStruck: redisStops === 0,
    redisAbsenceMs: REDIS_ABSENCE_MS,
    strikes,
    weather: chaos > 0 || cuts > 0 ? { seed, chaos, cuts } : null,
    tally,
    answer: (request) => vendor.answer(request),
  });
  const violations: Violation[] = [];
  try {
    const pace = { meanPeaceMs: options.peace, patienceMs: 8_000, redisStops };
    violations.push(
      ...(await runSoak(deployment, { vendor, tally }, { seed, chats, turns, people, ...pace, tell })),
    );
    for (const line of [...tally.lines(), ...(await deployment.remarks())]) say(line);
  } finally {
    violations.push(...(await deployment.close()).map((sentence) => ({ sentence })));
    await databases?.close();
  }
  for (const { sentence, evidence } of violations)
    say(`\nVIOLATION: ${sentence}${evidence ? `\n${evidence}` : ""}`);
  tell(
    violations.length === 0
      ? `All is well (seed ${seed}).`
      : `${violations.length} violations. Again: ${lineOf(options)}`,
  );
  return violations.length === 0 ? 0 : 1;
}

process.exitCode = await main();
