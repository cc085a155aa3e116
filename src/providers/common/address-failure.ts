/** Detection of wrong addresses: failures that show a misconfigured address rather than an outage. Pure. */

/** Depth of inspected `cause` chains: the network's error is below the HTTP client's. */
const CAUSE_DEPTH_LIMIT = 5;
/** Inspected bytes of a response without a known type: a web page is recognised by its beginning. */
export const SNIFFED_BYTES = 512;

/** The address does not lead to the vendor's API. Thrown by `endpointFetch`, below the SDKs. */
export class AddressFailure extends Error {
  override readonly name = "AddressFailure";

  constructor(
    /** Follows "cannot reach ADDRESS: " in messages; without the address and without secrets. */
    readonly reason: string,
    /** Whether a retry may succeed: the server at the address may still be starting. */
    readonly isRetryable: boolean,
    options: { httpStatus?: number; cause?: unknown } = {},
  ) {
    super("the address does not lead to the vendor's API", { cause: options.cause });
    this.httpStatus = options.httpStatus;
  }

  /** Undefined without a response. */
  readonly httpStatus: number | undefined;
}

/** An address for messages: without user info, query and fragment, which may contain secrets. */
export function displayAddress(address: string): string {
  if (!URL.canParse(address)) return "its address";
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** No server, or no route to it. A restarting vendor looks the same. */
const NO_ANSWER: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "its host name could not be resolved",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to its network",
};

/** The server is not the expected one, or uses another protocol. Not worth a retry. */
const WRONG_ANSWER: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its TLS certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its TLS certificate is signed by an authority that this server does not know",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "its TLS certificate is signed by an authority that this server does not know",
  UNABLE_TO_GET_ISSUER_CERT: "its TLS certificate is signed by an authority that this server does not know",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "its TLS certificate is signed by an authority that this server does not know",
  CERT_HAS_EXPIRED: "its TLS certificate has expired",
  CERT_NOT_YET_VALID: "its TLS certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its TLS certificate is for another host",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS; an http address may be meant",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "it does not speak TLS; an http address may be meant",
  EPROTO: "the TLS handshake failed",
  ERR_INVALID_URL: "it is not a valid URL",
};

/**
 * Undefined for every other failure, including outages. `hasAnswered`: this address has served the vendor's API
 * before.
 */
export function addressFailureOf(error: unknown, hasAnswered: boolean): AddressFailure | undefined {
  for (const code of codesOf(error)) {
    const wrong = WRONG_ANSWER[code] ?? prefixed(code);
    if (wrong !== undefined) return new AddressFailure(wrong, false, { cause: error });
    const silent = NO_ANSWER[code];
    // An address that has answered before is correct: the server is down or restarting.
    if (silent !== undefined && !hasAnswered) return new AddressFailure(silent, true, { cause: error });
  }
  return undefined;
}

function prefixed(code: string): string | undefined {
  if (code.startsWith("HPE_")) return "it does not answer in HTTP; an https address may be meant";
  return /^(ERR_SSL_|ERR_TLS_|CERT_)/.test(code) ? "the TLS handshake failed" : undefined;
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  let link = error;
  for (let depth = 0; depth < CAUSE_DEPTH_LIMIT && link instanceof Error; depth += 1) {
    if ("code" in link && typeof link.code === "string") codes.push(link.code);
    link = link.cause;
  }
  return codes;
}

/** Statuses with a clear meaning (keys, sizes, rates, outages), even with a proxy's web page as body. */
const UNAMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([401, 402, 408, 413, 429]);

/** Whether a response with this status and type can be a web page instead of an API's response. */
export function mayBePage(status: number, contentType: string | null): boolean {
  if (status >= 500 || UNAMBIGUOUS_STATUSES.has(status)) return false;
  return !/json|event-?stream/i.test(contentType ?? "");
}

/** Whether the text begins like a web page. */
export function isPage(beginning: string): boolean {
  return /^\s*<(!doctype\s+html|html|head|body|\?xml|!--)/i.test(beginning);
}

/** The failure for a web page: a login page, a proxy's error page, or another. */
export function pageFailure(status: number): AddressFailure {
  const reason = `it answers with a web page (HTTP ${status}), as login pages and proxies do, and not as an API does`;
  return new AddressFailure(reason, status < 400, { httpStatus: status });
}

/** Wordings of servers for an unknown path; every other 404 is about the requested model. */
const NO_SUCH_PATH =
  /^(404[:\s-]*)*(the )?((page|resource|route|path|endpoint|requested url|url)( was)? )?not[ _]?found[.!]?$|^(404)?$|invalid url|unknown (url|path|route|endpoint|request url)|no (such )?(route|path|endpoint)|cannot (post|get) \/|no route matched|(url|path|route|endpoint)[^.]{0,80} (was )?not found|unrecognized request url/i;

/** `message`: the server's message of a 404, perhaps empty. */
export function isPathUnknown(message: string): boolean {
  return NO_SUCH_PATH.test(message.trim()) && !/\bmodel\b|deployment/i.test(message);
}

/** `method` and `path` are those of the request. */
export function pathFailure(method: string, path: string): AddressFailure {
  return new AddressFailure(`it answers 404 Not Found to ${method} ${path}`, false, { httpStatus: 404 });
}
