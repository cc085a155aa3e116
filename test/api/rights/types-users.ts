// Access to users, their own objects, and user administration.
import { ADMINS, ADMINS_ASK, ALL_USERS, OWNER_ALONE, OWNER_AND_ADMINS } from "./callers.js";
import { nested, onNode, type Reach, type TypeEntries } from "./entries.js";

/** A range that starts in 2026. */
const RANGE = `range: { from: "2026-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z" }`;

/** The viewer's own objects; `path` starts at `viewer`. */
const ofViewer = (path: string): Reach => ({
  rule: ALL_USERS,
  at: path === "" ? "viewer" : `viewer.${path}`,
  ask: (_world, selection) => ({
    query: `{ ${nested(`viewer.${path}`.replace(/\.$/, ""), selection)} }`,
    variables: {},
  }),
});
/** Objects visible to their owner only. */
const own = (type: string, id: "tokenId" | "gitConnectionId" | "pushId"): Reach => ({
  rule: OWNER_ALONE,
  ...onNode(type, (world) => world[id]),
});
/** Through a query for admins. */
const forAdmins = (query: string, path: string): Reach => ({
  rule: ADMINS_ASK,
  at: path,
  ask: (_world, selection) => ({
    query: `{ ${nested(path, selection).replace(/^\w+/, query)} }`,
    variables: {},
  }),
});

export const ofUsers: TypeEntries = {
  Viewer: {
    fields: "apiTokens cost gitHostAccounts permissions preferences pushSubscriptions usageLimit user",
    args: { cost: RANGE },
    reached: [ofViewer("")],
  },
  UserPreferences: { fields: "customPrompt defaultModelConfig", reached: [ofViewer("preferences")] },
  User: {
    fields: "createdAt id isActive name role username",
    guarded: { storage: OWNER_AND_ADMINS },
    reached: [
      { ...ofViewer("user"), guarded: { storage: ALL_USERS } },
      // Others can only see users through objects that they share.
      { when: "by id", rule: OWNER_AND_ADMINS, ...onNode("User", ({ ownerId }) => ownerId) },
    ],
  },
  ApiToken: {
    fields: "createdAt expiresAt id lastUsedAt name scopes",
    reached: [own("ApiToken", "tokenId")],
  },
  PushSubscription: {
    fields: "createdAt endpoint id userAgent",
    reached: [own("PushSubscription", "pushId")],
  },
  GitHostAccount: { fields: "createdAt host id login", reached: [own("GitHostAccount", "gitConnectionId")] },
  UserCost: {
    fields: "chatCount messageCount runtimeMs tokens totalMicros user",
    reached: [forAdmins(`userCosts(${RANGE})`, "userCosts.nodes")],
  },
  UserCostConnection: { fields: "totalMicros", reached: [forAdmins(`userCosts(${RANGE})`, "userCosts")] },
  UserStorage: { fields: "limitBytes source usedBytes", reached: [ofViewer("user.storage")] },
  UsageLimitStatus: {
    fields: "limitMicros period periodEnd periodStart remainingMicros source spentMicros",
    reached: [ofViewer("usageLimit")],
  },
  UsageLimitPolicy: {
    fields: "defaultLimitMicros isEnabled overrides period unpricedModels",
    reached: [forAdmins("usageLimitPolicy", "usageLimitPolicy")],
  },
  UsageLimitOverride: {
    fields: "limitMicros updatedAt user",
    reached: [forAdmins("usageLimitPolicy", "usageLimitPolicy.overrides.nodes")],
  },
  AuditLogEntry: {
    fields: "action actor actorName at changes createdAt id requestId targetId targetKind targetName",
    reached: [
      forAdmins("auditLog", "auditLog.nodes"),
      { when: "by id", rule: ADMINS, ...onNode("AuditLogEntry", ({ auditId }) => auditId) },
    ],
  },
  AuditChange: {
    fields: "after before field isSecret isSet",
    reached: [forAdmins("auditLog", "auditLog.nodes.changes")],
  },
};
