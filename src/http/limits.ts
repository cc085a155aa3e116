/** Bounds of the doors. The document bounds are the usual defaults of GraphQL hardening; the rest says why beside it. */
export type HttpLimits = {
  /** Largest request body, and largest frame on a socket. */
  maxBodyBytes: number;
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
  /** Bytes of JSON in one answer, or one event of a subscription. */
  maxAnswerBytes: number;
  /**
   * Bytes of one user's answers and events that are made and not yet taken by the network, at this server; before anybody
   * has shown a token, of one address.
   */
  maxBytesPerUser: number;
};

export const DEFAULT_HTTP_LIMITS: Readonly<HttpLimits> = Object.freeze({
  maxBodyBytes: 1_048_576,
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
  // A page of 50 messages as long as books; a browser shows nothing of that size.
  maxAnswerBytes: 16_777_216,
  // Four of the largest answers. Everybody else's answers need memory too.
  maxBytesPerUser: 67_108_864,
});
