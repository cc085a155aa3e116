/** Reads bytes of a file in a workspace: the only response of the agent that is not JSON. */
import { z } from "zod";
import { FILE_SIZE_HEADER } from "../../agent/protocol/files.js";
import { AGENT_PATHS } from "../../agent/protocol/paths.js";
import {
  AGENT_REQUEST_TIMEOUT_MS,
  describeTransport,
  headersOf,
  parseAnswer,
  sendToAgent,
  unreachable,
  type AgentAddress,
} from "./agent-request.js";

/** The bytes are in memory as a whole; larger files are read in several requests. */
export const MAX_BYTES_PER_READ = 16 * 1024 * 1024;

export type ReadBytesRequest = {
  path: string;
  /** Bytes to skip; default 0. */
  offset?: number;
  /** Default (also for 0) and maximum: `MAX_BYTES_PER_READ`. */
  limit?: number;
  signal?: AbortSignal;
};

/** `fileSize` is that of the whole file, which may extend beyond `bytes`. */
export type BytesRead = { bytes: Uint8Array; fileSize: number };

/** Rejects as `askAgent` does. */
export async function readAgentBytes(address: AgentAddress, request: ReadBytesRequest): Promise<BytesRead> {
  const { path, offset = 0, limit = MAX_BYTES_PER_READ, signal } = request;
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(AGENT_REQUEST_TIMEOUT_MS);
  const query = new URLSearchParams({
    path,
    offset: String(offset),
    // 0 would mean the whole file, however large.
    limit: String(limit === 0 ? MAX_BYTES_PER_READ : Math.min(limit, MAX_BYTES_PER_READ)),
  });
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await sendToAgent(address, `${AGENT_PATHS.readBytes}?${query.toString()}`, {
      method: "GET",
      headers: headersOf(address, false),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw unreachable(timeout.aborted ? "it did not answer in time" : describeTransport(error), error);
  }
  if (!response.ok) return parseAnswer(z.never(), response.status, Buffer.from(bytes).toString("utf8"));
  const fileSize = Number(response.headers.get(FILE_SIZE_HEADER) ?? Number.NaN);
  if (!Number.isSafeInteger(fileSize)) throw unreachable("its answer is not in the protocol", undefined);
  return { bytes, fileSize };
}
