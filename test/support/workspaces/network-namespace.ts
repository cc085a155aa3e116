// Network namespace for a process, joined to this machine's by a cable: what a container or another host has.
// Needs Linux, root and iproute2; tests that want one are skipped elsewhere, and say so.
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { promisify } from "node:util";
import { has } from "../requirements.js";

export type NetworkNamespace = {
  /** This machine's address at the cable's near end. */
  near: string;
  /** The namespace's address at the far end. */
  far: string;
  /** Runs a program in the namespace when put before it. */
  within: string[];
  remove(): Promise<void>;
};

const run = promisify(execFile);
const ip = (...words: string[]) => run("ip", words);

export const hasNamespaces = has("network-namespaces");

export async function makeNamespace(): Promise<NetworkNamespace> {
  const number = randomInt(1 << 16);
  const name = `parley-test-${process.pid}-${number}`;
  const [nearEnd, farEnd] = [`ply${number}a`, `ply${number}b`];
  // From the block reserved for benchmarks, which no real network uses.
  const network = `198.${18 + (number & 1)}.${(number >> 8) & 0xff}`;
  const base = (number & 0x3f) * 4;
  const [near, far] = [`${network}.${base + 1}`, `${network}.${base + 2}`];
  await ip("netns", "add", name);
  try {
    await ip("link", "add", nearEnd, "type", "veth", "peer", "name", farEnd, "netns", name);
    await ip("addr", "add", `${near}/30`, "dev", nearEnd);
    await ip("link", "set", nearEnd, "up");
    await ip("-n", name, "addr", "add", `${far}/30`, "dev", farEnd);
    await ip("-n", name, "link", "set", farEnd, "up");
    await ip("-n", name, "link", "set", "lo", "up");
  } catch (error) {
    await ip("netns", "del", name);
    throw error;
  }
  // The cable goes with the namespace that holds one of its ends.
  const remove = async () => void (await ip("netns", "del", name));
  return { near, far, within: ["ip", "netns", "exec", name], remove };
}
