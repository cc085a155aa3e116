// What the table of rights is made of.
import type { Kind, Rule } from "./askers.js";
import type { World } from "./world.js";

export type Question = { query: string; variables: object };
type Given<T> = T | Promise<T>;

/** Who gets one field of Query, Mutation or Subscription, in one case. */
export type RootLine = {
  /** What tells it from the field's other lines. */
  when?: string;
  rule: Rule;
  /** Asked anew for each asker, so that what a mutation uses up may be made here. `field` is the line's name. */
  ask(world: World, field: string): Given<Question>;
  /** Where in the field the answer is, by names, lists on the way opened; of a list any item. Absent = the field. */
  at?: string;
  /** Only this object is an answer, by its `id` in the list at `at`. */
  id?(world: World): string;
};
/** By the field's name. */
export type RootLines = Record<string, RootLine | readonly RootLine[]>;

/** A way to an object of a type, by which all of its fields are asked for. */
export type Reach = {
  when?: string;
  /** Of the object. */
  rule: Rule;
  /** `read` when absent. */
  kind?: Kind;
  ask(world: World, selection: string): Given<Question>;
  at: string;
  /** Rules of guarded fields that are others in this case. */
  guarded?: Record<string, Rule>;
};

export type TypeLine = {
  /** Names of fields that everybody may see who has got the object. */
  fields: string;
  /** Fields that fewer people may see, with who does. Null must mean that they may not. */
  guarded?: Record<string, Rule>;
  /** What fields must be asked with, as it is written between their brackets. */
  args?: Record<string, string>;
  /** How an object of the type is got; all of it is really asked for. */
  reached?: readonly Reach[];
  /** For types of which there is none without much ado: what holds them, as `Type`, `Type.field` or an interface. */
  partOf?: readonly string[];
};
/** By the type's name. */
export type TypeLines = Record<string, TypeLine>;

export type Table = {
  queries: RootLines;
  /** Mutations for everybody with the scope CHAT. */
  changes: RootLines;
  /** Mutations for admins. */
  administration: RootLines;
  subscriptions: RootLines;
  types: TypeLines;
};

export function linesOf(lines: RootLine | readonly RootLine[] | undefined): readonly RootLine[] {
  if (lines === undefined) return [];
  return "ask" in lines ? [lines] : lines;
}

export const names = (text: string): string[] => text.split(/\s+/).filter((name) => name !== "");

// Ways to objects that many types share.

type Ids = (world: World) => string;

/** By `node`, as the type that is given. */
export function onNode(type: string, id: Ids, at = "", within = (selection: string) => selection) {
  return {
    at: `node${at}`,
    ask: (world: World, selection: string): Question => ({
      query: `query ($id: ID!) { node(id: $id) { ... on ${type} { ${within(selection)} } } }`,
      variables: { id: id(world) },
    }),
  };
}

/** Inside of one of the owner's chats: `path` from the chat on. */
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

/** `a.b` and `c` are `a { b { c } }`. */
export function nested(path: string, selection: string): string {
  return path.split(".").reduceRight((inner, name) => `${name} { ${inner} }`, selection);
}

/** A mutation with an input of its name; the codes of its refusals are asked for, too. */
export function changing(name: string, input: object, selection: string): Question {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
  const query = `mutation ($input: ${type}) { ${name}(input: $input) { ${selection} userErrors { code } } }`;
  return { query, variables: { input } };
}

/** The line of a mutation: `field` of its payload is there when it was done. */
export function change(rule: Rule, field: string, input: (world: World) => Given<object>): RootLine {
  return {
    rule,
    at: names(field)[0] ?? "",
    ask: async (world, name) => changing(name, await input(world), field),
  };
}
