// Access to subscriptions.
import { ALL_USERS, type Rule } from "./callers.js";
import type { RootEntry, RootEntries } from "./entries.js";

/** What others are told when they would follow a chat that is not theirs. */
const OWNER_AND_ADMINS_FOLLOW: Rule = { owner: "shown", other: "no permission", admin: "shown" };

const ofChat = (subscription: string): RootEntry => ({
  rule: OWNER_AND_ADMINS_FOLLOW,
  ask: ({ chats }) => ({
    query: `subscription ($id: ID!) { ${subscription} }`,
    variables: { id: chats.full },
  }),
});

export const subscriptions: RootEntries = {
  chatEvents: ofChat("chatEvents(chatId: $id) { __typename }"),
  gitSnapshots: ofChat("gitSnapshots(chatId: $id) { __typename }"),
  // Each their own.
  chatListEvents: {
    rule: ALL_USERS,
    ask: () => ({ query: "subscription { chatListEvents { __typename } }", variables: {} }),
  },
};
