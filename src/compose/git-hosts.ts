/** Git hosts in one process: how they are asked, in whose name, and who keeps what is known of chats' branches fresh. */
import type { Config } from "../config/config.js";
import { HostedBranchDiffs } from "../services/git/branch-diffs.js";
import type { DiffPollDependencies } from "../services/git/diff-polls.js";
import { DiffStatusWorker } from "../services/git/diff-status-worker.js";
import type { TransitionDependencies } from "../engine/transitions/apply-transition.js";
import { MAX_DIFF_BYTES } from "../domain/git/branch-facts.js";
import { RemoteGitHosts } from "../git-hosts/git-hosts.js";
import type { Log } from "../lib/log.js";
import type { OutboundFetch } from "../lib/outbound/outbound-fetch.js";
import { VERSION } from "../lib/version.js";
import type { SecretBox } from "../store/common/secret-box.js";
import type { Closers } from "./closers.js";

/** One request; what a person waits for is a handful of them. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A diff within its bound travels as JSON at some hosts, which makes it longer. */
const MAX_ANSWER_BYTES = 2 * MAX_DIFF_BYTES;

export type GitHostDependencies = TransitionDependencies & {
  config: Config;
  secrets: SecretBox;
  outbound: OutboundFetch;
  log: Log;
};

export type BranchLooks = {
  diffs: HostedBranchDiffs;
  /** Nobody waits for an answer of a host any more. */
  stopAsking(): void;
  /** On every process that runs chats; they share the work by claims. */
  startWorker(): void;
};

export function openBranchDiffs(dependencies: GitHostDependencies, closers: Closers): BranchLooks {
  const { config, outbound, clock } = dependencies;
  const openHosts = (): RemoteGitHosts =>
    new RemoteGitHosts({
      fetch: outbound.for({
        isPrivateAllowed: config.isGitHostPrivateAllowed,
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxBodyBytes: MAX_ANSWER_BYTES,
      }),
      now: () => clock.now(),
      userAgent: `parley/${VERSION}`,
    });
  const hosts = openHosts();
  const diffs = new HostedBranchDiffs({ ...dependencies, hosts });
  closers.add("what people ask git hosts", async () => stopAsking());
  const stopAsking = () => {
    diffs.stopAnswering();
    hosts.close();
  };
  return {
    diffs,
    stopAsking,
    startWorker: () => startWorker({ ...dependencies, hosts: openHosts() }, closers),
  };
}

function startWorker(dependencies: DiffPollDependencies & { hosts: RemoteGitHosts }, closers: Closers): void {
  const worker = new DiffStatusWorker(dependencies);
  worker.start();
  closers.add("looks at chats' branches", async () => {
    const closed = worker.close();
    // It gives back what it does not get an answer for.
    dependencies.hosts.close();
    await closed;
  });
}
