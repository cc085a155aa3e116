// The environment variables of git hosts, part of the table in config.ts.
import { onOrOff, withDefault } from "./variable.js";

export const gitHostVariables = {
  isGitHostPrivateAllowed: withDefault(
    {
      name: "PARLEY_GIT_HOSTS_PRIVATE_NETWORK",
      meaning:
        "Whether the server may ask git hosts within your own network how branches stand. People name those hosts themselves: on or off.",
    },
    "off",
    onOrOff,
  ),
};
