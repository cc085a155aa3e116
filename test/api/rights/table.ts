// The table of rights: who gets what of the whole API. CONTRIBUTING.md says how a field comes into it.
import { administration } from "./administration.js";
import { changes } from "./changes.js";
import type { Table } from "./lines.js";
import { queries } from "./queries.js";
import { subscriptions } from "./subscriptions.js";
import { ofChats } from "./types-chats.js";
import { ofEvents } from "./types-events.js";
import { ofPeople } from "./types-people.js";
import { ofServers } from "./types-servers.js";

export const TABLE: Table = {
  queries,
  changes,
  administration,
  subscriptions,
  types: { ...ofChats, ...ofEvents, ...ofPeople, ...ofServers },
};
