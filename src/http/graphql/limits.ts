import { MAX_MESSAGE_CHARACTERS } from "../../domain/common/limits.js";

/** Largest size of a character in JSON: two escaped surrogates, `\\ud83d\\ude00`. */
const BYTES_PER_CHARACTER = 12;
/** Size of a body beside the longest message: the document, and the other fields of the input. */
const OTHER_BODY_BYTES = 1_048_576;

/** Limits of the HTTP server. The document limits are the usual defaults of GraphQL hardening. */
export type HttpLimits = {
  /** Largest body of an operation, and largest frame on a socket, of authenticated clients. */
  maxBodyBytes: number;
  /** Largest body of any other request. */
  maxOtherBodyBytes: number;
  /** Bytes that a socket may send before it is authenticated; beyond it the socket is terminated. */
  maxInitBytes: number;
  /** Longest document, in UTF-8 bytes. */
  maxDocumentBytes: number;
  /** Lexical tokens of a document. */
  maxTokens: number;
  /** Fields inside fields; introspection has its own bound in graphql-js and does not count. */
  maxDepth: number;
  /** Aliased fields in a whole document. */
  maxAliases: number;
  /** Directives in a whole document. */
  maxDirectives: number;
  /** Fields and fragments of a whole document, counted once per use, before validation. */
  maxNodes: number;
  /** Comparisons of fields of one name during validation; document-size.ts defines how they are counted. */
  maxComparisons: number;
  /** Cost of one operation; cost.ts defines how it is counted. */
  maxCost: number;
  /** Concurrent operations on one socket. */
  maxOperationsPerSocket: number;
  /** Concurrent operations on all sockets and event streams of one user at this server. */
  maxOperationsPerUser: number;
  /** Concurrent queries and mutations of one user at this server, over all transports; others wait. */
  maxRunningPerUser: number;
  /** Concurrent mutations among these: each may occupy a database connection while it waits for a row. */
  maxMutationsPerUser: number;
  /** Operations of one user that wait to run; beyond it they are refused. */
  maxWaitingPerUser: number;
  /** Longest wait of such an operation, in milliseconds; then it is refused. */
  maxRunningWaitMs: number;
  /** Milliseconds of this process's CPU that one user's operations may use per second; 0 = unlimited. */
  userCpuMsPerSecond: number;
  /** Milliseconds of CPU that a user may use in a burst. */
  userCpuBurstMs: number;
  /** Authenticated sockets at this server, and as many event streams; beyond it they are rejected with 503. */
  maxSockets: number;
  /** Sockets of one user at this server; beyond it a socket is closed with 1013. */
  maxSocketsPerUser: number;
  /** Bytes buffered in one socket for a client that does not read; beyond it the socket is terminated. */
  maxUnsentBytes: number;
  /** Unauthenticated connections from one address; one more terminates the oldest of them. */
  maxAnonymousPerAddress: number;
  /** Unauthenticated connections from all addresses. */
  maxAnonymousConnections: number;
  /** Bytes of JSON in one response, or one event of a subscription. */
  maxResponseBytes: number;
  /**
   * Bytes of one user's responses and events that this server has produced and not yet sent; before authentication, of
   * one address.
   */
  maxBytesPerUser: number;
};

/** Largest average of comparisons per node, in a document with the most nodes. */
export const COMPARISONS_PER_NODE = 20;

export const DEFAULT_HTTP_LIMITS: Readonly<HttpLimits> = Object.freeze({
  maxBodyBytes: MAX_MESSAGE_CHARACTERS * BYTES_PER_CHARACTER + OTHER_BODY_BYTES,
  maxOtherBodyBytes: 1_048_576,
  // A token is a few kilobytes at most.
  maxInitBytes: 65_536,
  maxDocumentBytes: 16_384,
  maxTokens: 2_000,
  maxDepth: 12,
  maxAliases: 15,
  maxDirectives: 50,
  // The SDK's largest document has 435 and 1,224, everything that a chat's events have two levels deep 628 and 6,419,
  // GraphiQL's introspection 240 and 5,921. At these bounds validation takes 10 ms, and four times as much when cold.
  maxNodes: 1_000,
  maxComparisons: 20_000,
  maxCost: 5_000,
  maxOperationsPerSocket: 64,
  maxOperationsPerUser: 256,
  // A browser sends six at a time over HTTP/1.1; a page of a rich client sends some ten operations at once.
  maxRunningPerUser: 16,
  maxMutationsPerUser: 5,
  maxWaitingPerUser: 256,
  maxRunningWaitMs: 10_000,
  // An interactive user uses some 20; a script that sends fifty small queries a second some 150.
  userCpuMsPerSecond: 300,
  userCpuBurstMs: 3_000,
  // About 20 kB each when subscribed, besides the queued events of slow readers.
  maxSockets: 10_000,
  // One operation on each.
  maxSocketsPerUser: 256,
  // Every operation has at most one event in flight, so a well-behaved client stays far below.
  maxUnsentBytes: 33_554_432,
  // Two hundred users behind one address who all reconnect within one second are unauthenticated for some 50 ms each.
  maxAnonymousPerAddress: 64,
  maxAnonymousConnections: 2_048,
  // A page of 50 messages as long as books; a browser shows nothing of that size.
  maxResponseBytes: 16_777_216,
  // Four of the largest responses. All other users' responses need memory too.
  maxBytesPerUser: 67_108_864,
});
