// The settings by topic, for the help of the program and the documentation.
import { chatVariables } from "./chats.js";
import { settingsTable } from "./config.js";
import { fileVariables } from "./files.js";
import { gitHostVariables } from "./git-hosts.js";
import { limitVariables } from "./limits.js";
import { modelVariables } from "./models.js";
import { operationsVariables } from "./operations.js";
import { pushVariables } from "./push.js";
import { signInVariables } from "./sign-in.js";
import type { Variable } from "./variable.js";
import { workspaceVariables } from "./workspaces.js";

export type Setting = Pick<Variable<unknown>, "name" | "meaning" | "defaultText" | "expected">;
/** `name`: a word for the command line. */
export type SettingsTopic = { name: string; title: string; settings: Setting[] };

const WORKSPACES = ["workspaceDir", "workspaceAgentUrl", "workspaceAgentToken"];

/** The topic of what is in none of the others. */
const OTHERS = "server";

const TOPICS: readonly [name: string, title: string, keys: readonly string[]][] = [
  [OTHERS, "The server: address, data, replicas, log", []],
  ["models", "Models and their vendors", Object.keys(modelVariables)],
  ["chats", "Chats, turns and workers", Object.keys(chatVariables)],
  ["workspaces", "Workspaces and their agents", [...WORKSPACES, ...Object.keys(workspaceVariables)]],
  ["sign-in", "Sign-in and browsers", Object.keys(signInVariables)],
  ["files", "Files and storage", Object.keys(fileVariables)],
  ["git", "Git hosts", Object.keys(gitHostVariables)],
  ["push", "Push notifications", Object.keys(pushVariables)],
  ["limits", "Limits on requests", Object.keys(limitVariables)],
  ["operations", "Operation: database, traces, metrics, debugging", Object.keys(operationsVariables)],
];

/** Every setting once. */
export function describeTopics(): SettingsTopic[] {
  const topicOf = new Map(TOPICS.flatMap(([name, , keys]) => keys.map((key) => [key, name])));
  return TOPICS.map(([name, title]) => ({
    name,
    title,
    settings: Object.entries(settingsTable)
      .filter(([key]) => (topicOf.get(key) ?? OTHERS) === name)
      .map(([, setting]) => ({
        name: setting.name,
        meaning: setting.meaning,
        defaultText: setting.defaultText,
        expected: setting.expected,
      })),
  }));
}
