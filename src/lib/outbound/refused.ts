/** Errors of the outbound policy: requests that it refused, and responses beyond its limits. */

const ADVICE = "an administrator may allow private networks for this server";

/** The policy refused the request; nothing was sent to its target. The message is shown to users. */
export class OutboundRefused extends Error {
  override readonly name = "OutboundRefused";

  static privateName(host: string): OutboundRefused {
    return new OutboundRefused(`${host} resolves to a private address; ${ADVICE}.`);
  }

  static privateAddress(address: string): OutboundRefused {
    return new OutboundRefused(`${address} is a private address; ${ADVICE}.`);
  }
}

/** The response took longer or was larger than the policy allows. */
export class OutboundLimitExceeded extends Error {
  override readonly name = "OutboundLimitExceeded";
}
