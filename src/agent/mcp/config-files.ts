/** Reader of the files that configure MCP servers, and detection of their changes. */
import { stat } from "node:fs/promises";
import { readStart } from "../context/read-start.js";
import { errorCode, errorText } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import { parseConfig, type ServerEntry } from "./config-text.js";

/** Far above a handwritten file. */
const MAX_CONFIG_BYTES = 1024 * 1024;
/** Each may be a process; a file that names more is a mistake. */
const MAX_SERVERS = 50;

/** `linkTarget`: the file that `configFile` is a link to. */
export type ConfiguredServer = ServerEntry & { configFile: string; linkTarget?: string };

export type ConfigFiles = {
  servers: ConfiguredServer[];
  fileProblems: { path: string; message: string }[];
};

/**
 * Fingerprint of the files' metadata; it differs when a file has changed. Take it before the files are read, so that a
 * change in between is found the next time. Never rejects.
 */
export async function snapshotFiles(paths: readonly string[]): Promise<string> {
  const facts = await Promise.all(
    paths.map(async (path) => {
      try {
        const { mtimeNs, ctimeNs, size, ino } = await stat(path, { bigint: true });
        return `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
      } catch (error) {
        return `${path} ${errorCode(error) ?? errorText(error)}`;
      }
    }),
  );
  return facts.join("\n");
}

/** Of several files that configure the same server the first wins. A missing file configures none. Never rejects. */
export async function readConfigFiles(
  paths: readonly string[],
  environment: Environment,
  former: readonly ConfiguredServer[],
): Promise<ConfigFiles> {
  const servers = new Map<string, ConfiguredServer>();
  const fileProblems: ConfigFiles["fileProblems"] = [];
  for (const path of paths) {
    const { entries, linkTarget, problem } = await readConfigFile(path, environment);
    if (problem !== undefined) fileProblems.push({ path, message: problem });
    // An unreadable file may be half written: its former entries stay until it is readable again.
    const named =
      entries?.map((entry) => ({
        ...entry,
        configFile: path,
        ...(linkTarget !== undefined && { linkTarget }),
      })) ?? former.filter(({ configFile }) => configFile === path);
    for (const server of named) {
      if (!servers.has(server.name)) servers.set(server.name, server);
    }
  }
  const used = [...servers.values()].slice(0, MAX_SERVERS);
  for (const { name, configFile } of [...servers.values()].slice(MAX_SERVERS)) {
    fileProblems.push({
      path: configFile,
      message: `${name} is one server too many: ${MAX_SERVERS} are used.`,
    });
  }
  return { servers: used, fileProblems };
}

/** `entries` are absent when the file cannot be parsed. */
async function readConfigFile(
  path: string,
  environment: Environment,
): Promise<{ entries?: ServerEntry[]; linkTarget?: string; problem?: string }> {
  const read = await readStart(path, { limitBytes: MAX_CONFIG_BYTES });
  if (read.kind === "refused") return read.status === 404 ? { entries: [] } : { problem: read.message };
  if (read.value.isTruncated) return { problem: `It has more than ${MAX_CONFIG_BYTES} bytes.` };
  const config = parseConfig(read.value.text, environment);
  if (config.kind === "unreadable") return { problem: config.problem };
  const { realPath } = read.value;
  return { entries: config.entries, ...(realPath !== path && { linkTarget: realPath }) };
}
