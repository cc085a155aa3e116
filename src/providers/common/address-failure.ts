/** Whether a failed request shows that an address is wrong rather than that a vendor is down. Pure. */

/** How many errors within errors are looked at: the network's own lies below the HTTP client's. */
const CAUSE_DEPTH_LIMIT = 5;
/** Of an answer without a known type, so much is looked at: a page says what it is at its beginning. */
export const SNIFFED_BYTES = 512;

/** The address does not lead to the vendor's API. Thrown by `endpointFetch`, below the SDKs. */
export class AddressFailure extends Error {
  override readonly name = "AddressFailure";

  constructor(
    /** What was found there, to follow "cannot reach ADDRESS: "; without the address and without secrets. */
    readonly reason: string,
    /** Whether the next try may fare better: what listens at an address may still be starting. */
    readonly isRetryable: boolean,
    options: { httpStatus?: number; cause?: unknown } = {},
  ) {
    super("the address does not lead to the vendor's API", { cause: options.cause });
    this.httpStatus = options.httpStatus;
  }

  /** Undefined when nothing answered. */
  readonly httpStatus: number | undefined;
}

/** An address for people: without user info, query and fragment, where secrets are put. */
export function displayAddress(address: string): string {
  if (!URL.canParse(address)) return "its address";
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** Nothing listens there, or the way there is not known. A vendor that restarts looks the same. */
const NO_ANSWER: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "its host name could not be resolved",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to its network",
};

/** What answers there is not who it should be, or does not speak as it should. Waiting changes nothing. */
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

/** Undefined for every other failure, outages among them. `hasAnswered`: this address led to the vendor's API before. */
export function addressFailureOf(error: unknown, hasAnswered: boolean): AddressFailure | undefined {
  for (const code of codesOf(error)) {
    const wrong = WRONG_ANSWER[code] ?? prefixed(code);
    if (wrong !== undefined) return new AddressFailure(wrong, false, { cause: error });
    const silent = NO_ANSWER[code];
    // What has answered at this address before is the right thing at the right address: it is down, or restarts.
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

/** Statuses that say enough by themselves, whatever page a proxy puts behind them: keys, sizes, rates, outages. */
const TELLING_STATUSES: ReadonlySet<number> = new Set([401, 402, 408, 413, 429]);

/** Whether an answer with this status and type can be a page instead of what an API says. */
export function mayBePage(status: number, contentType: string | null): boolean {
  if (status >= 500 || TELLING_STATUSES.has(status)) return false;
  return !/json|event-?stream/i.test(contentType ?? "");
}

/** Whether the beginning of an answer is that of a web page. */
export function isPage(beginning: string): boolean {
  return /^\s*<(!doctype\s+html|html|head|body|\?xml|!--)/i.test(beginning);
}

/** Login pages, proxies' pages, whatever else a browser would show. */
export function pageFailure(status: number): AddressFailure {
  const reason = `it answers with a web page (HTTP ${status}), as login pages and proxies do, and not as an API does`;
  return new AddressFailure(reason, status < 400, { httpStatus: status });
}

/** Wordings of servers that know no such path; every other 404 is about the model that was asked for. */
const NO_SUCH_PATH =
  /^(404[:\s-]*)*(the )?((page|resource|route|path|endpoint|requested url|url)( was)? )?not[ _]?found[.!]?$|^(404)?$|invalid url|unknown (url|path|route|endpoint|request url)|no (such )?(route|path|endpoint)|cannot (post|get) \/|no route matched|(url|path|route|endpoint)[^.]{0,80} (was )?not found|unrecognized request url/i;

/** `words`: what the server says with its 404; empty when it says nothing. */
export function isPathUnknown(words: string): boolean {
  return NO_SUCH_PATH.test(words.trim()) && !/\bmodel\b|deployment/i.test(words);
}

/** `method` and `path` are those of the request. */
export function pathFailure(method: string, path: string): AddressFailure {
  return new AddressFailure(`it answers 404 Not Found to ${method} ${path}`, false, { httpStatus: 404 });
}
