/** Composition of git hosts: on-demand diffs, and the worker that polls the status of chats' branches. */
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

/** Of one request; a user waits for a few of them. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Some hosts return diffs as JSON, which is longer. */
const MAX_ANSWER_BYTES = 2 * MAX_DIFF_BYTES;

export type GitHostDependencies = TransitionDependencies & {
  config: Config;
  secrets: SecretBox;
  outbound: OutboundFetch;
  log: Log;
};

export type BranchDiffServices = {
  diffs: HostedBranchDiffs;
  /** Aborts users' requests to hosts. */
  stopAsking(): void;
  /** For every process that runs chats; they divide the polls by claims. */
  startWorker(): void;
};

export function openBranchDiffs(dependencies: GitHostDependencies, closers: Closers): BranchDiffServices {
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
  closers.add("users' requests to git hosts", async () => stopAsking());
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
  closers.add("the diff status worker", async () => {
    const closed = worker.close();
    // It releases claims without an answer.
    dependencies.hosts.close();
    await closed;
  });
}
