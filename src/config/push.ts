// Variables of push notifications; part of the table in config.ts.
import { z } from "zod";
import { accept, onOrOff, optional, withDefault } from "./variable.js";

export const pushVariables = {
  pushContact: optional(
    {
      name: "PARLEY_PUSH_CONTACT",
      meaning:
        "Contact for the operators of browsers' push services, as mailto:ops@example.com or an https address.",
    },
    "PARLEY_PUBLIC_URL when that is https, else mailto:parley@localhost",
    accept("a mailto: or https: address", z.url({ protocol: /^(mailto|https)$/ })),
  ),
  isPushPrivateAllowed: withDefault(
    {
      name: "PARLEY_PUSH_PRIVATE_NETWORK",
      meaning: "Whether push services in private networks are allowed, also without encryption: on or off.",
    },
    "off",
    onOrOff,
  ),
};
