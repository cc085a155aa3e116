// Variables of the public address and of sign-in; part of the table in config.ts.
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
        "Address of this deployment for browsers, with the path if it has one; authorizations of MCP servers redirect to it.",
    },
    "http://localhost and the port",
    publicAddress,
  ),
  allowedOrigins: withDefault(
    {
      name: "PARLEY_ALLOWED_ORIGINS",
      meaning:
        "Other origins of web apps that browsers may be redirected to, as https://chat.example, separated by commas.",
    },
    "",
    origins,
  ),
  oidcIssuer: optional(
    { name: "PARLEY_OIDC_ISSUER", meaning: "The OpenID Connect provider that users sign in with." },
    "none; no sign-in with a browser",
    provider,
  ),
  oidcClientId: optional(
    { name: "PARLEY_OIDC_CLIENT_ID", meaning: "Parley's client id at the provider." },
    "none; required with PARLEY_OIDC_ISSUER",
    word("a client id without spaces"),
  ),
  oidcClientSecret: optional(
    { name: "PARLEY_OIDC_CLIENT_SECRET", meaning: "Parley's client secret at the provider." },
    "none; Parley is a public client",
    secretWord(1),
  ),
  oidcScopes: withDefault(
    { name: "PARLEY_OIDC_SCOPES", meaning: "Requested scopes, including openid." },
    "openid profile email",
    accept(
      "scopes separated by spaces, openid among them",
      z.string().refine((text) => text.split(" ").includes("openid")),
    ),
  ),
  oidcRoleClaim: optional(
    {
      name: "PARLEY_OIDC_ROLE_CLAIM",
      meaning: "The claim that identifies admins: its name, or a path such as realm_access.roles.",
    },
    "none; admins assign roles manually",
    word("a claim's name"),
  ),
  oidcAdminValues: withDefault(
    {
      name: "PARLEY_OIDC_ADMIN_VALUES",
      meaning: "Values of that claim for admins, separated by commas; all others are members.",
    },
    "",
    words,
  ),
  oidcAllowedDomains: withDefault(
    {
      name: "PARLEY_OIDC_ALLOWED_DOMAINS",
      meaning: "Domains of verified e-mail addresses that may sign in, separated by commas; empty = all.",
    },
    "",
    words,
  ),
  sessionLifeMs: withDefault(
    { name: "PARLEY_SESSION_LIFE_MS", meaning: "Milliseconds after which a browser session expires." },
    String(7 * DAY_MS),
    wholeNumber(1_000, 365 * DAY_MS, " of milliseconds"),
  ),
  sessionIdleMs: withDefault(
    { name: "PARLEY_SESSION_IDLE_MS", meaning: "The same for a browser session without requests." },
    String(DAY_MS),
    wholeNumber(1_000, 365 * DAY_MS, " of milliseconds"),
  ),
  jwtIssuer: optional(
    { name: "PARLEY_JWT_ISSUER", meaning: "The provider whose signed tokens services may use." },
    "none; services use API tokens",
    provider,
  ),
  jwtAudience: optional(
    { name: "PARLEY_JWT_AUDIENCE", meaning: "The audience that such tokens must have." },
    "none; required with PARLEY_JWT_ISSUER",
    word("an audience without spaces"),
  ),
};

type SignInValues = {
  [Key in keyof typeof signInVariables]: ReturnType<(typeof signInVariables)[Key]["whenUnset"]>;
};

/** Incomplete combinations of variables. */
export function findIncompleteSignIn(values: SignInValues): string[] {
  const { oidcIssuer, oidcClientId, jwtIssuer, jwtAudience, oidcRoleClaim, oidcAdminValues } = values;
  return [
    ...((oidcIssuer === undefined) === (oidcClientId === undefined)
      ? []
      : ["PARLEY_OIDC_ISSUER and PARLEY_OIDC_CLIENT_ID must be set together."]),
    ...((jwtIssuer === undefined) === (jwtAudience === undefined)
      ? []
      : ["PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE must be set together."]),
    ...((oidcRoleClaim === undefined) === (oidcAdminValues.length === 0)
      ? []
      : ["PARLEY_OIDC_ROLE_CLAIM and PARLEY_OIDC_ADMIN_VALUES must be set together."]),
  ];
}
