// `npm run soak`: the whole soak against real processes. Arguments or environment: --seed=N --chats=N --turns=N
// --servers=N --people=N --redis=1 (a Redis between them), SOAK_SEED, SOAK_CHATS …. Ends with 1, and says the seed, when anything was violated.
import { parseArgs } from "node:util";
import { Tally } from "./chance.js";
import { openProcesses } from "./processes.js";
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
};
type Numbers = typeof DEFAULTS;

/** An argument beats the environment; a seed of 0 is drawn. */
function readNumbers(): Numbers {
  const options = Object.fromEntries(
    Object.keys(DEFAULTS).map((name) => [name, { type: "string" as const }]),
  );
  const { values } = parseArgs({ options });
  const numbers = Object.entries(DEFAULTS).map(([name, usual]) => {
    const text = values[name] ?? process.env[`SOAK_${name.toUpperCase()}`];
    const number = text === undefined ? usual : Number(text);
    if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} must be a whole number.`);
    return [name, number];
  });
  const read = Object.fromEntries(numbers) as Numbers;
  return { ...read, seed: read.seed || 1 + Math.floor(Math.random() * 2 ** 31) };
}

const startedAt = Date.now();
const say = (line: string) => void process.stdout.write(`${line}\n`);
const tell = (line: string) => say(`[${Math.round((Date.now() - startedAt) / 1_000)} s] ${line}`);

async function main(): Promise<number> {
  const numbers = readNumbers();
  say(
    `The soak: ${Object.entries(numbers)
      .map(([name, number]) => `${name} ${number}`)
      .join(", ")}`,
  );
  const tally = new Tally();
  const vendor = new Vendor(numbers.seed, tally, numbers.faults);
  const { servers, seed, chats, turns, people } = numbers;
  const deployment = await openProcesses({
    servers,
    withRedis: numbers.redis > 0,
    tally,
    answer: (request) => vendor.answer(request),
  });
  const violations: Violation[] = [];
  try {
    const settings = { seed, chats, turns, people, meanPeaceMs: numbers.peace, patienceMs: 8_000, tell };
    violations.push(...(await runSoak(deployment, { vendor, tally }, settings)));
    for (const line of [...tally.lines(), ...(await deployment.remarks())]) say(line);
  } finally {
    violations.push(...(await deployment.close()).map((sentence) => ({ sentence })));
  }
  for (const { sentence, evidence } of violations)
    say(`\nVIOLATION: ${sentence}${evidence ? `\n${evidence}` : ""}`);
  tell(
    violations.length === 0
      ? `All is well (seed ${seed}).`
      : `${violations.length} violations. Again: npm run soak -- --seed=${seed} --chats=${chats} --turns=${turns}`,
  );
  return violations.length === 0 ? 0 : 1;
}

process.exitCode = await main();
