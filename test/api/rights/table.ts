// The access table of the whole API. CONTRIBUTING.md describes how to add a field.
import { administration } from "./administration.js";
import { changes } from "./changes.js";
import type { Table } from "./entries.js";
import { queries } from "./queries.js";
import { subscriptions } from "./subscriptions.js";
import { ofChats } from "./types-chats.js";
import { ofEvents } from "./types-events.js";
import { ofUsers } from "./types-users.js";
import { ofServers } from "./types-servers.js";

export const TABLE: Table = {
  queries,
  changes,
  administration,
  subscriptions,
  types: { ...ofChats, ...ofEvents, ...ofUsers, ...ofServers },
};
