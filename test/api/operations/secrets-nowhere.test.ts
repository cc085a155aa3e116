// Secrets appear nowhere: a deployment with an unmistakable value for every secret is queried completely, and then all
// responses, events, logs and stored data are searched.
import { randomBytes } from "node:crypto";
import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SecretBox } from "../../../src/store/common/secret-box.js";
import { buildParleySchema } from "../../../src/schema/build.js";
import { resolvers } from "../../../src/resolvers/resolvers.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import {
  connectHost,
  createGitDeployment,
  type GitDeployment,
  type GitServer,
  tablesWith,
} from "../../support/git/git-deployment.js";
import { insertSealedRows } from "../../support/database/sealed-rows.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** Short enough to survive truncation of texts, and random, so that they are distinguishable. */
const secret = (name: string) => `s3cret_${name}_${randomBytes(12).toString("hex")}`;
const key = { id: "nowhere", bytes: randomBytes(32) };

const TYPED = {
  gitToken: secret("git"),
  otherGitToken: secret("othergit"),
  mcpApiKey: secret("apikey"),
  mcpNewApiKey: secret("newapikey"),
  mcpClientSecret: secret("clientsecret"),
  mcpLeftKey: secret("leftkey"),
  mcpNewClientSecret: secret("newclientsecret"),
  mcpHeader: secret("header"),
  mcpNewHeader: secret("newheader"),
  modelKey: secret("modelkey"),
  modelNewKey: secret("modelnewkey"),
  modelLeftKey: secret("modelleftkey"),
  personalKey: secret("personalkey"),
  personalNewKey: secret("personalnewkey"),
  refused: secret("refused"),
};
const STORED = {
  git: secret("storedgit"),
  oauthClientSecret: secret("storedclient"),
  oauthRegisteredSecret: secret("registered"),
  apiKey: secret("storedkey"),
  customHeaders: JSON.stringify([{ name: "x-key", value: secret("storedheader") }]),
  accessToken: secret("access"),
  refreshToken: secret("refresh"),
  codeVerifier: secret("verifier"),
  identityAccessToken: secret("identityaccess"),
  identityRefreshToken: secret("identityrefresh"),
  identityIdToken: secret("identityid"),
  providerKey: secret("storedproviderkey"),
  personalKey: secret("storedpersonalkey"),
};
const ENVIRONMENT = {
  GEMINI_API_KEY: secret("gemini"),
  OPENAI_API_KEY: secret("openai"),
  AZURE_OPENAI_API_KEY: secret("azure"),
  AWS_BEARER_TOKEN_BEDROCK: secret("bedrock"),
  PARLEY_REPLICA_SECRET: secret("replica"),
  PARLEY_ADMIN_TOKEN: secret("admin"),
};
const HEADER_VALUE = /s3cret_storedheader_\w+/.exec(STORED.customHeaders)?.[0] ?? "";
const ALL = [
  ...Object.values(TYPED),
  ...Object.values(STORED).filter((text) => text !== STORED.customHeaders),
  HEADER_VALUE,
  ...Object.values(ENVIRONMENT),
  key.bytes.toString("base64"),
  key.bytes.toString("hex"),
];

let deployment: GitDeployment;
let server: GitServer;
/** All responses and events that clients received. */
const heard: string[] = [];

beforeAll(async () => {
  deployment = await createGitDeployment(TYPED.gitToken);
  server = await deployment.start(`${key.id}:${key.bytes.toString("base64")}`, {
    ...ENVIRONMENT,
    PARLEY_DEBUG_RECORDS: "on",
    OPENAI_BASE_URL: "http://127.0.0.1:9",
    GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9",
    AZURE_OPENAI_ENDPOINT: "http://127.0.0.1:9",
    BEDROCK_BASE_URL: "http://127.0.0.1:9",
  });
  await insertSealedRows((text, values) => deployment.query(text, values), new SecretBox([key]), STORED);
});
afterAll(() => deployment.remove());

/** Sends a request and records the response. */
async function ask(api: ApiClient, query: string, variables: object = {}) {
  const answer = await api.ask(query, variables);
  heard.push(JSON.stringify(answer));
  return answer;
}

function change(api: ApiClient, name: string, input: object, fields: string) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
  const errors = "userErrors { code message path }";
  return ask(api, `mutation ($input: ${type}) { ${name}(input: $input) { ${fields} ${errors} } }`, { input });
}

/** Selects all fields of the type that need no arguments, to a depth that the cost limit allows. */
function everythingOf(type: GraphQLNamedType, depth: number): string {
  if (isLeafType(type)) return "";
  if (isAbstractType(type)) {
    const members = schema.getPossibleTypes(type).map((it) => `... on ${it.name} ${everythingOf(it, depth)}`);
    return `{ __typename ${isInterfaceType(type) ? "" : members.filter((it) => it.includes("{")).join(" ")} }`;
  }
  if (!isObjectType(type)) return "";
  const fields = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return [];
    const inner = getNamedType(field.type);
    if (isLeafType(inner)) return [field.name];
    return depth === 0 || isAbstractType(inner) ? [] : [`${field.name} ${everythingOf(inner, depth - 1)}`];
  });
  return `{ __typename ${fields.join(" ")} }`;
}

const schema = buildParleySchema(resolvers);

function rootQueries(depth: number): string[] {
  const roots: GraphQLField<unknown, unknown>[] = Object.values(schema.getQueryType()?.getFields() ?? {});
  return roots
    .filter(({ args }) => !args.some(isRequiredArgument))
    .map(({ name, type, args }) => {
      const disabled = args.some((arg) => arg.name === "includeDisabled") ? "(includeDisabled: true)" : "";
      // Selecting everything of 25 chats exceeds the cost limit; there are fewer than 15.
      const given = name === "chats" ? "(first: 15)" : disabled;
      return `{ ${name}${given} ${everythingOf(getNamedType(type), depth)} }`;
    });
}

const mcpServer = (slug: string, auth: object) => ({
  slug,
  displayName: slug,
  url: `https://${slug}.example/mcp`,
  transport: "STREAMABLE_HTTP",
  auth,
});
const oauth2 = (more: object) => ({
  oauth2: {
    clientId: "parley",
    authorizeUrl: "https://auth.example/a",
    tokenUrl: "https://auth.example/t",
    ...more,
  },
});
const apiKey = (value: unknown) => ({ apiKey: { header: "x-key", value } });
const headers = (value: unknown) => ({ headers: [{ name: "x-key", value }] });

async function makeServer(api: ApiClient, slug: string, auth: object): Promise<string> {
  const { data } = await change(api, "createMcpServer", mcpServer(slug, auth), "server { id }");
  const id = (data as { createMcpServer: { server: { id: string } | null } } | null)?.createMcpServer.server
    ?.id;
  if (id === undefined) throw new Error(`${slug} was not made: ${heard.at(-1)}`);
  return id;
}

/** Successful calls of all mutations that take secrets. Returns the IDs of the objects. */
async function giveSecrets(api: ApiClient, member: ApiClient): Promise<string[]> {
  const connected = await connectHost(api, deployment.host.url, TYPED.gitToken);
  heard.push(JSON.stringify([connected, await connectHost(member, "git.example", TYPED.otherGitToken)]));
  const keyed = await makeServer(api, "keyed", apiKey({ set: TYPED.mcpApiKey }));
  const headed = await makeServer(api, "headed", headers({ set: TYPED.mcpHeader }));
  const authorised = await makeServer(
    api,
    "oauthed",
    oauth2({ clientSecret: { set: TYPED.mcpClientSecret } }),
  );
  const left = await makeServer(api, "left", apiKey({ set: TYPED.mcpLeftKey }));
  const changes: [string, object][] = [
    [keyed, { auth: apiKey({ set: TYPED.mcpNewApiKey }) }],
    [headed, { auth: headers({ set: TYPED.mcpNewHeader }) }],
    [authorised, { auth: oauth2({ clientSecret: { set: TYPED.mcpNewClientSecret } }) }],
    [left, { auth: { none: true } }],
  ];
  for (const [serverId, more] of changes) {
    await change(api, "updateMcpServer", { serverId, ...more }, "server { id }");
    expect(heard.at(-1)).toContain('"userErrors":[]');
  }
  const provider = await giveModelKeys(api, member);
  return [keyed, headed, authorised, left, connected.connection?.id ?? "", provider];
}

/** Sets the deployment's and users' own keys of a model provider, and returns its ID. */
async function giveModelKeys(api: ApiClient, member: ApiClient): Promise<string> {
  const made = async (displayName: string, key: string): Promise<string> => {
    const input = { kind: "OPENAI", displayName, apiKey: { set: key }, keyPolicy: "USER_THEN_DEPLOYMENT" };
    const { data } = await change(api, "createModelProvider", input, "provider { id }");
    return (data as { createModelProvider: { provider: { id: string } } }).createModelProvider.provider.id;
  };
  const providerId = await made("Keyed models", TYPED.modelKey);
  const left = await made("Left models", TYPED.modelLeftKey);
  const done: [ApiClient, string, object][] = [
    [api, "updateModelProvider", { providerId, apiKey: { set: TYPED.modelNewKey } }],
    [member, "setViewerProviderKey", { providerId, apiKey: { set: TYPED.personalKey } }],
    [member, "setViewerProviderKey", { providerId, apiKey: { set: TYPED.personalNewKey } }],
    [api, "updateModelProvider", { providerId: left, apiKey: { clear: true } }],
  ];
  for (const [who, name, input] of done) {
    await change(who, name, input, "provider { id hasApiKey hasViewerKey }");
    expect(heard.at(-1)).toContain('"userErrors":[]');
  }
  return providerId;
}

const MODEL_CALLS = `query ($id: ID!) {
  modelCallRecords(chatId: $id, first: 20) { nodes { model generation request response } }
}`;

/** Reads the recorded model calls of each chat. Polls, because they are written asynchronously after the turn. */
async function readModelCalls(api: ApiClient): Promise<void> {
  type Chats = { chats: { nodes: { id: string }[] } };
  const { chats } = await api.get<Chats>("{ chats { nodes { id } } }");
  for (const { id } of chats.nodes) {
    let calls = "";
    while (!calls.includes('"request":')) calls = JSON.stringify(await ask(api, MODEL_CALLS, { id }));
  }
  expect(chats.nodes.length).toBeGreaterThan(0);
}

/** Failing calls of the same mutations: with the secret in a wrong field, or without permission. */
async function giveSecretsBadly(api: ApiClient, member: ApiClient, serverId = ""): Promise<void> {
  const { refused } = TYPED;
  const host = { host: "git.example" };
  const bad: [ApiClient, string, object][] = [
    [api, "connectGitHost", { host: refused, token: `${refused} ${refused}` }],
    [api, "connectGitHost", { ...host, token: { value: refused } }],
    [api, "connectGitHost", { ...host, token: [refused], more: refused }],
    [api, "createMcpServer", mcpServer("bad slug", { apiKey: { header: "x key", value: { set: refused } } })],
    [api, "createMcpServer", mcpServer("bad", apiKey({ set: { value: refused } }))],
    [api, "createMcpServer", mcpServer("bad", apiKey({ set: refused, [refused]: refused }))],
    [api, "createMcpServer", mcpServer("bad", apiKey(refused))],
    [api, "createMcpServer", mcpServer("bad", headers({ set: `${refused}\u0000` }))],
    [
      api,
      "createMcpServer",
      mcpServer("bad", { headers: [{ name: refused.repeat(99), value: { set: refused } }] }),
    ],
    [api, "createMcpServer", mcpServer("bad", oauth2({ clientSecret: { set: `${refused}\n${refused}` } }))],
    [api, "createMcpServer", mcpServer("bad", oauth2({ clientSecret: { set: [refused, refused] } }))],
    [api, "updateMcpServer", { serverId, auth: apiKey({ set: `${refused}\u0000` }) }],
    [api, "updateMcpServer", { serverId, auth: apiKey({ set: refused, clear: true }) }],
    [api, "updateMcpServer", { serverId: "mcp_nowhere", auth: apiKey({ set: refused }) }],
    [api, "createModelProvider", { kind: "OPENAI", displayName: "", apiKey: { set: refused } }],
    [
      api,
      "createModelProvider",
      { kind: "OPENAI", displayName: "Bad", apiKey: { set: `${refused} \u00e9` } },
    ],
    [api, "createModelProvider", { kind: "OPENAI", displayName: "Bad", apiKey: refused }],
    [api, "setViewerProviderKey", { providerId: "prov_nowhere", apiKey: { set: refused } }],
    [member, "createModelProvider", { kind: "OPENAI", displayName: "Bad", apiKey: { set: refused } }],
    [member, "createMcpServer", mcpServer("bad", apiKey({ set: refused }))],
    [member, "updateMcpServer", { serverId, auth: apiKey({ set: refused }) }],
  ];
  for (const [who, name, input] of bad) {
    const { data, errors } = await change(who, name, input, "__typename");
    const isDone = errors.length === 0 && JSON.stringify(data).includes('"userErrors":[]');
    expect({ name, input, isDone }).toEqual({ name, input, isDone: false });
  }
}

/** Reads everything that is available without an ID, and then all objects by their IDs. */
async function readAll(api: ApiClient, member: ApiClient, ids: readonly string[]): Promise<void> {
  const questions = rootQueries(2);
  for (const question of questions) {
    const { errors } = await ask(api, question);
    expect({ question, errors }).toEqual({ question, errors: [] });
    await ask(member, question);
  }
  expect(questions.length).toBeGreaterThan(5);
  const server = schema.getType("McpServer");
  const node = `query ($id: ID!) { node(id: $id) { id ... on McpServer ${server ? everythingOf(server, 1) : ""} } }`;
  for (const id of ids) {
    const { errors } = await ask(api, node, { id });
    expect({ id, errors }).toEqual({ id, errors: [] });
    await ask(member, node, { id });
  }
}

test("no secret is returned, published, logged or stored in plain text, whatever is requested", async () => {
  const { api } = server;
  const member = await server.enter("member");
  const ids = await giveSecrets(api, member);
  await giveSecretsBadly(api, member, ids[0]);
  // A turn that uses a Git token; the owner is subscribed to the chat.
  const run = await deployment.run(
    api,
    `git clone --quiet ${deployment.host.repositoryUrl} nowhere && echo cloned`,
  );
  expect(run.output).toBe("cloned\n");
  heard.push(run.received);
  await readModelCalls(api);
  await readAll(api, member, ids);
  await change(api, "deleteMcpServer", { serverId: ids[3] }, "deletedId");
  await ask(
    api,
    "{ auditLog(first: 100) { nodes { action targetName changes { field before after isSecret isSet } } } }",
  );
  const all = heard.join("\n");
  // Guards against an empty search: these values must have been received.
  for (const shownValue of [
    "MCP_SERVER_UPDATED",
    "MCP_SERVER_DELETED",
    '"hasApiKey":true',
    '"hasCustomHeaders":true',
    '"hasViewerKey":true',
    "MODEL_PROVIDER_UPDATED",
    '"status":"CONNECTED"',
    "git clone --quiet",
  ]) {
    expect(all).toContain(shownValue);
  }
  expect(ALL.filter((value) => all.includes(value))).toEqual([]);
  const tables = await Promise.all(ALL.map((value) => tablesWith(deployment, value)));
  expect(tables.flat()).toEqual([]);
  const logged = deployment.logged();
  expect(logged).toContain('"level":20');
  expect(ALL.filter((value) => logged.includes(value))).toEqual([]);
});
