// The environment variables of browsers and of signing in, part of the table in config.ts.
import { z } from "zod";
import {
  accept,
  address,
  optional,
  origins,
  publicAddress,
  secretWord,
  wholeNumber,
  withDefault,
  word,
} from "./variable.js";

const DAY_MS = 86_400_000;
const words = accept(
  "words separated by commas",
  z.string().transform((text) =>
    text
      .split(",")
      .map((it) => it.trim())
      .filter((it) => it !== ""),
  ),
);
const provider = { ...address(["https:", "http:"]), secret: false };

export const signInVariables = {
  publicUrl: optional(
    {
      name: "PARLEY_PUBLIC_URL",
      meaning:
        "Where browsers reach this deployment, with the path if it has one; the address that authorisations of tool servers come back to.",
    },
    "http://localhost and the port",
    publicAddress,
  ),
  allowedOrigins: withDefault(
    {
      name: "PARLEY_ALLOWED_ORIGINS",
      meaning:
        "Web apps on other origins that people may be sent back to, as https://chat.example, separated by commas.",
    },
    "",
    origins,
  ),
  oidcIssuer: optional(
    { name: "PARLEY_OIDC_ISSUER", meaning: "The OpenID Connect provider that people sign in with." },
    "nobody signs in with a browser",
    provider,
  ),
  oidcClientId: optional(
    { name: "PARLEY_OIDC_CLIENT_ID", meaning: "Parley's client id at the provider." },
    "none; it goes with PARLEY_OIDC_ISSUER",
    word("a client id without spaces"),
  ),
  oidcClientSecret: optional(
    { name: "PARLEY_OIDC_CLIENT_SECRET", meaning: "Parley's client secret at the provider." },
    "none; Parley is a public client",
    secretWord(1),
  ),
  oidcScopes: withDefault(
    { name: "PARLEY_OIDC_SCOPES", meaning: "What the provider is asked for, openid among it." },
    "openid profile email",
    accept(
      "scopes separated by spaces, openid among them",
      z.string().refine((text) => text.split(" ").includes("openid")),
    ),
  ),
  oidcRoleClaim: optional(
    {
      name: "PARLEY_OIDC_ROLE_CLAIM",
      meaning: "The claim that tells who is an admin: its name, or a path such as realm_access.roles.",
    },
    "admins give roles by hand",
    word("a claim's name"),
  ),
  oidcAdminValues: withDefault(
    {
      name: "PARLEY_OIDC_ADMIN_VALUES",
      meaning: "Values of that claim that make an admin, separated by commas; everybody else is a member.",
    },
    "",
    words,
  ),
  oidcAllowedDomains: withDefault(
    {
      name: "PARLEY_OIDC_ALLOWED_DOMAINS",
      meaning:
        "Domains of verified e-mail addresses that may sign in, separated by commas; empty = everybody.",
    },
    "",
    words,
  ),
  sessionLifeMs: withDefault(
    { name: "PARLEY_SESSION_LIFE_MS", meaning: "Milliseconds after which a browser signs in anew." },
    String(7 * DAY_MS),
    wholeNumber(1_000, 365 * DAY_MS, " of milliseconds"),
  ),
  sessionIdleMs: withDefault(
    { name: "PARLEY_SESSION_IDLE_MS", meaning: "The same for a browser that asks for nothing." },
    String(DAY_MS),
    wholeNumber(1_000, 365 * DAY_MS, " of milliseconds"),
  ),
  jwtIssuer: optional(
    { name: "PARLEY_JWT_ISSUER", meaning: "The provider whose signed tokens services may bring." },
    "services bring API tokens",
    provider,
  ),
  jwtAudience: optional(
    { name: "PARLEY_JWT_AUDIENCE", meaning: "The audience that such tokens must be made for." },
    "none; it goes with PARLEY_JWT_ISSUER",
    word("an audience without spaces"),
  ),
};

type SignInValues = {
  [Key in keyof typeof signInVariables]: ReturnType<(typeof signInVariables)[Key]["whenUnset"]>;
};

/** What does not work by what is set of it. */
export function findSignInHalves(values: SignInValues): string[] {
  const { oidcIssuer, oidcClientId, jwtIssuer, jwtAudience, oidcRoleClaim, oidcAdminValues } = values;
  return [
    ...((oidcIssuer === undefined) === (oidcClientId === undefined)
      ? []
      : ["PARLEY_OIDC_ISSUER and PARLEY_OIDC_CLIENT_ID must be set both or neither."]),
    ...((jwtIssuer === undefined) === (jwtAudience === undefined)
      ? []
      : ["PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE must be set both or neither."]),
    ...((oidcRoleClaim === undefined) === (oidcAdminValues.length === 0)
      ? []
      : ["PARLEY_OIDC_ROLE_CLAIM and PARLEY_OIDC_ADMIN_VALUES must be set both or neither."]),
  ];
}
