/** `parley help settings`: every setting of the server by topic, from the descriptions that the documentation has, too. */
import { closestName } from "../config/closest-name.js";
import { describeTopics, type SettingsTopic } from "../config/topics.js";

const WIDTH = 100;
const INDENT = "      ";
const EXIT_BAD_USAGE = 2;

/** Prints the settings of one topic, or of all. Returns the exit code. */
export function printSettings(name: string | undefined): number {
  const topics = describeTopics();
  const shown = name === undefined ? topics : topics.filter((topic) => topic.name === name);
  if (shown.length === 0) {
    const names = topics.map((topic) => topic.name);
    const hint = closestName(name ?? "", names);
    const meant = hint === null ? "" : ` Did you mean ${hint}?`;
    process.stderr.write(`There is no topic ${name}.${meant}\nTopics: ${names.join(", ")}\n`);
    return EXIT_BAD_USAGE;
  }
  process.stdout.write(settingsText(shown));
  return 0;
}

export function settingsText(topics: readonly SettingsTopic[]): string {
  return [
    "Every setting is an environment variable, or a line in parley.config.yaml; the environment wins.",
    ...topics.flatMap(({ name, title, settings }) => [
      "",
      `${title} (parley help settings ${name})`,
      ...settings.flatMap((setting) => [
        "",
        `  ${setting.name}`,
        ...wrap(setting.meaning),
        ...wrap(`Default: ${setting.defaultText || "empty"}`),
      ]),
    ]),
    "",
  ].join("\n");
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(INDENT + word);
  }
  return lines;
}
