// The types of the access table's entries.
import type { Kind, Rule } from "./callers.js";
import type { World } from "./world.js";

export type Question = { query: string; variables: object };
type Given<T> = T | Promise<T>;

/** Access to a field of Query, Mutation or Subscription, in one case. */
export type RootEntry = {
  /** Distinguishes the entry from others of the same field. */
  when?: string;
  rule: Rule;
  /** Called for each caller, so that objects consumed by a mutation can be created here. `field` is the entry's name. */
  ask(world: World, field: string): Given<Question>;
  /** Path of the value within the field; lists are flattened. Defaults to the field itself. */
  at?: string;
  /** Only the object with this `id` in the list at `at` counts as shown. */
  id?(world: World): string;
};
/** By the field's name. */
export type RootEntries = Record<string, RootEntry | readonly RootEntry[]>;

/** A path to an object of a type, through which all of its fields are queried. */
export type Reach = {
  when?: string;
  /** Access to the object. */
  rule: Rule;
  /** Defaults to `read`. */
  kind?: Kind;
  ask(world: World, selection: string): Given<Question>;
  at: string;
  /** Rules of guarded fields that differ in this case. */
  guarded?: Record<string, Rule>;
};

export type TypeEntry = {
  /** Names of fields visible to everyone who can see the object. */
  fields: string;
  /** Fields visible to fewer callers, with their rules. Null must mean no access. */
  guarded?: Record<string, Rule>;
  /** Required arguments of fields, as written between the parentheses. */
  args?: Record<string, string>;
  /** Paths to objects of the type; all fields are queried for real. */
  reached?: readonly Reach[];
  /** For types that are hard to produce: what contains them, as `Type`, `Type.field` or an interface. */
  partOf?: readonly string[];
};
/** By the type's name. */
export type TypeEntries = Record<string, TypeEntry>;

export type Table = {
  queries: RootEntries;
  /** Mutations for all users with the scope CHAT. */
  changes: RootEntries;
  /** Mutations for admins. */
  administration: RootEntries;
  subscriptions: RootEntries;
  types: TypeEntries;
};

export function entriesOf(entries: RootEntry | readonly RootEntry[] | undefined): readonly RootEntry[] {
  if (entries === undefined) return [];
  return "ask" in entries ? [entries] : entries;
}

export const names = (text: string): string[] => text.split(/\s+/).filter((name) => name !== "");

// Paths shared by many types.

type Ids = (world: World) => string;

/** Through `node`, as the given type. */
export function onNode(type: string, id: Ids, at = "", within = (selection: string) => selection) {
  return {
    at: `node${at}`,
    ask: (world: World, selection: string): Question => ({
      query: `query ($id: ID!) { node(id: $id) { ... on ${type} { ${within(selection)} } } }`,
      variables: { id: id(world) },
    }),
  };
}

/** Within one of the owner's chats; `path` starts at the chat. */
export function inChat(chat: keyof World["chats"], path: string) {
  return {
    at: `chat.${path}`,
    ask: (world: World, selection: string): Question => ({
      query: `query ($id: ID!) { chat(id: $id) { ${nested(path, selection)} } }`,
      variables: { id: world.chats[chat] },
    }),
  };
}

/** A part of a message of one of the owner's chats. */
export function inMessages(chat: keyof World["chats"], type: string) {
  const { at, ask } = inChat(chat, "messages.nodes.parts");
  return {
    at,
    ask: (world: World, selection: string) => ask(world, `... on ${type} { ${selection} }`),
  };
}

/** `a.b` and `c` become `a { b { c } }`. */
export function nested(path: string, selection: string): string {
  return path.split(".").reduceRight((inner, name) => `${name} { ${inner} }`, selection);
}

/** A mutation with its input type; also selects the codes of user errors. */
export function changing(name: string, input: object, selection: string): Question {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
  const query = `mutation ($input: ${type}) { ${name}(input: $input) { ${selection} userErrors { code } } }`;
  return { query, variables: { input } };
}

/** The entry of a mutation: `field` of its payload is non-null on success. */
export function change(rule: Rule, field: string, input: (world: World) => Given<object>): RootEntry {
  return {
    rule,
    at: names(field)[0] ?? "",
    ask: async (world, name) => changing(name, await input(world), field),
  };
}
