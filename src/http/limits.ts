import { MAX_MESSAGE_CHARACTERS } from "../domain/limits.js";

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
  /** Cost of one operation; cost.ts says how it is counted. */
  maxCost: number;
  /** Operations that run at one time on one socket. */
  maxOperationsPerSocket: number;
  /** Operations that run at one time on all sockets and event streams of one user at this server. */
  maxOperationsPerUser: number;
  /** Sockets open at this server, and as many event streams; beyond it they are answered with 503. */
  maxSockets: number;
  /** Sockets of one user at this server; beyond it a socket is closed with 1013. */
  maxSocketsPerUser: number;
  /** Bytes that may wait in one socket for a client that does not read; beyond it the socket is cut. */
  maxUnsentBytes: number;
};

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
  maxCost: 5_000,
  maxOperationsPerSocket: 64,
  maxOperationsPerUser: 256,
  // About 20 kB each when subscribed, besides the events that wait for those that read slowly.
  maxSockets: 10_000,
  // Each can run one operation then.
  maxSocketsPerUser: 256,
  // Every operation has at most one event under way, so an honest reader stays far below.
  maxUnsentBytes: 33_554_432,
});
