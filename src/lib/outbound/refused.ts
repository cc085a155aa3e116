/** Why a request was not let out, or its answer not let in. */

const ADVICE = "an administrator may allow private networks for this server";

/** The guard refused a request; nothing was sent to where it would have gone. Its message is for people. */
export class OutboundRefused extends Error {
  override readonly name = "OutboundRefused";

  static privateName(host: string): OutboundRefused {
    return new OutboundRefused(`${host} resolves to a private address; ${ADVICE}.`);
  }

  static privateAddress(address: string): OutboundRefused {
    return new OutboundRefused(`${address} is a private address; ${ADVICE}.`);
  }
}

/** An answer exceeded what its request allows, in time or in size. */
export class OutboundLimitExceeded extends Error {
  override readonly name = "OutboundLimitExceeded";
}
