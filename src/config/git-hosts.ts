// Variables of git hosts; part of the table in config.ts.
import { onOrOff, withDefault } from "./variable.js";

export const gitHostVariables = {
  isGitHostPrivateAllowed: withDefault(
    {
      name: "PARLEY_GIT_HOSTS_PRIVATE_NETWORK",
      meaning:
        "Whether the server may send requests to git hosts in private networks; users choose the hosts: on or off.",
    },
    "off",
    onOrOff,
  ),
};
