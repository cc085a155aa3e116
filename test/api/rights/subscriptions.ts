// Who may follow what.
import { EVERYBODY, type Rule } from "./askers.js";
import type { RootLine, RootLines } from "./lines.js";

/** What others are told when they would follow a chat that is not theirs. */
const OWNER_AND_ADMINS_FOLLOW: Rule = { owner: "shown", other: "no permission", admin: "shown" };

const ofChat = (subscription: string): RootLine => ({
  rule: OWNER_AND_ADMINS_FOLLOW,
  ask: ({ chats }) => ({
    query: `subscription ($id: ID!) { ${subscription} }`,
    variables: { id: chats.told },
  }),
});

export const subscriptions: RootLines = {
  chatEvents: ofChat("chatEvents(chatId: $id) { __typename }"),
  gitSnapshots: ofChat("gitSnapshots(chatId: $id) { __typename }"),
  // Each their own.
  chatListEvents: {
    rule: EVERYBODY,
    ask: () => ({ query: "subscription { chatListEvents { __typename } }", variables: {} }),
  },
};
