// Small soak: chats on three in-process replicas that share a bus. `npm run soak` is the full form, with real processes
// that are killed.
import { expect, test } from "vitest";
import { scaled } from "../support/scale.js";
import { Tally } from "./chance.js";
import { openReplicas } from "./replicas.js";
import { runSoak } from "./soak.js";
import { Vendor } from "./vendor.js";

const SEED = Number(process.env["SOAK_SEED"] ?? 1);
const CHATS = scaled(100);
const TURNS = 5;

test(`users, vendor faults and lost workers leave every chat intact and all observers with the same view (seed ${SEED})`, async () => {
  const tally = new Tally();
  const vendor = new Vendor(SEED, tally, 18);
  const deployment = await openReplicas((request) => vendor.answer(request));
  const settings = {
    seed: SEED,
    chats: CHATS,
    turns: TURNS,
    users: CHATS,
    meanPeaceMs: 700,
    patienceMs: 1_500,
  };
  const violations = await runSoak(deployment, { vendor, tally }, { ...settings, report: () => undefined });
  const left = await deployment.close();
  if (process.env["SOAK_TELL"]) process.stdout.write(`${tally.lines().join("\n")}\n`);
  expect({ violations, left }).toEqual({ violations: [], left: [] });
  // A soak without faults proves nothing.
  const happened = ["vendor's faults", "tool calls asked for", "strikes", "reconnects"];
  expect(happened.filter((group) => tally.count(group) === 0)).toEqual([]);
});
