import { MAX_MESSAGE_CHARACTERS } from "../../domain/common/limits.js";

/** Of one character in JSON at its longest: as two escaped halves, `\\ud83d\\ude00`. */
const BYTES_PER_CHARACTER = 12;
/** Of a body beside the longest message: the document, and the other fields of the input. */
const OTHER_BODY_BYTES = 1_048_576;

/** Bounds of the doors. The document bounds are the usual defaults of GraphQL hardening; the rest says why beside it. */
export type HttpLimits = {
  /** Largest body of an operation, and largest frame on a socket, both of those who have said who they are. */
  maxBodyBytes: number;
  /** Largest body of any other request. */
  maxOtherBodyBytes: number;
  /** Bytes that a socket may send before it has said who it is; beyond it the socket is cut. */
  maxGreetingBytes: number;
  /** Longest document, in UTF-8 bytes. */
  maxDocumentBytes: number;
  /** Lexical tokens of a document. */
  maxTokens: number;
  /** Fields inside fields; introspection has its own bound in graphql-js and does not count. */
  maxDepth: number;
  /** Renamed fields in a whole document. */
  maxAliases: number;
  /** Directives in a whole document. */
  maxDirectives: number;
  /** Fields and fragments of a whole document, each counted wherever it is used, before it is validated. */
  maxNodes: number;
  /** Comparisons of fields of one name that validation may need; document-size.ts says how they are counted. */
  maxComparisons: number;
  /** Cost of one operation; cost.ts says how it is counted. */
  maxCost: number;
  /** Operations that run at one time on one socket. */
  maxOperationsPerSocket: number;
  /** Operations that run at one time on all sockets and event streams of one user at this server. */
  maxOperationsPerUser: number;
  /** Queries and mutations of one user that run at one time at this server, through whatever door; others wait. */
  maxRunningPerUser: number;
  /** Of these, mutations: each may hold one of the database's connections while it waits for a row. */
  maxMutationsPerUser: number;
  /** Operations of one user that wait for one of these places; beyond it they are refused. */
  maxWaitingPerUser: number;
  /** Longest wait for such a place, in milliseconds; then the operation is refused. */
  maxRunningWaitMs: number;
  /** Milliseconds of this process's CPU that one user's operations may take in each second; 0 = any number. */
  userCpuMsPerSecond: number;
  /** Milliseconds of CPU that a user who has been quiet may take at once. */
  userCpuBurstMs: number;
  /** Sockets open at this server, and as many event streams; beyond it they are answered with 503. */
  maxSockets: number;
  /** Sockets of one user at this server; beyond it a socket is closed with 1013. */
  maxSocketsPerUser: number;
  /** Bytes that may wait in one socket for a client that does not read; beyond it the socket is cut. */
  maxUnsentBytes: number;
  /** Connections from one address without a valid token; one more cuts the oldest of them. */
  maxStrangersPerAddress: number;
  /** The same of all addresses together. */
  maxStrangers: number;
  /** Bytes of JSON in one answer, or one event of a subscription. */
  maxAnswerBytes: number;
  /**
   * Bytes of one user's answers and events that are made and not yet taken by the network, at this server; before anybody
   * has shown a token, of one address.
   */
  maxBytesPerUser: number;
};

/** Of a document with as many nodes as it may have. */
export const COMPARISONS_PER_NODE = 20;

export const DEFAULT_HTTP_LIMITS: Readonly<HttpLimits> = Object.freeze({
  maxBodyBytes: MAX_MESSAGE_CHARACTERS * BYTES_PER_CHARACTER + OTHER_BODY_BYTES,
  maxOtherBodyBytes: 1_048_576,
  // A token is a few kilobytes at most.
  maxGreetingBytes: 65_536,
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
  // A browser sends six at a time over HTTP/1.1; a page of a rich client asks some ten questions at once.
  maxRunningPerUser: 16,
  maxMutationsPerUser: 5,
  maxWaitingPerUser: 256,
  maxRunningWaitMs: 10_000,
  // A person who clicks takes some 20; a script that sends fifty small queries a second some 150.
  userCpuMsPerSecond: 300,
  userCpuBurstMs: 3_000,
  // About 20 kB each when subscribed, besides the events that wait for those that read slowly.
  maxSockets: 10_000,
  // Each can run one operation then.
  maxSocketsPerUser: 256,
  // Every operation has at most one event under way, so an honest reader stays far below.
  maxUnsentBytes: 33_554_432,
  // Two hundred people behind one address who all come back in one second are strangers for some 50 ms each.
  maxStrangersPerAddress: 64,
  maxStrangers: 2_048,
  // A page of 50 messages as long as books; a browser shows nothing of that size.
  maxAnswerBytes: 16_777_216,
  // Four of the largest answers. Everybody else's answers need memory too.
  maxBytesPerUser: 67_108_864,
});
