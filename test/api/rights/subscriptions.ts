// Access to subscriptions.
import { ALL_USERS, type Rule } from "./callers.js";
import type { RootEntry, RootEntries } from "./entries.js";

/** The refusal of subscriptions to another user's chat. */
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
  // Every user's own list.
  chatListEvents: {
    rule: ALL_USERS,
    ask: () => ({ query: "subscription { chatListEvents { __typename } }", variables: {} }),
  },
};
