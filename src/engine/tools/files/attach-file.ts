/** The `attach_file` tool: attaches a file of the workspace to the chat. */
import { basename } from "node:path";
import { z } from "zod";
import { MAX_FILE_BYTES } from "../../../domain/files/file-limits.js";
import { plainFileName, textTypeOfName } from "../../../domain/files/file-names.js";
import { UNKNOWN_MEDIA_TYPE } from "../../../domain/files/file-types.js";
import { contentOf } from "../../../lib/file-content.js";
import { readDescription } from "../read-description.js";
import { defineTool, ToolAnswer, ToolError } from "../tool.js";
import { askWorkspace } from "../workspace-call.js";

const parameters = z.object({
  path: z.string().min(1).describe("The file, absolute or relative to the workspace's directory."),
  name: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("The name that the user sees, with an extension. Default: its own name."),
});

export const attachFileTool = defineTool({
  name: "attach_file",
  description: readDescription(import.meta.url),
  parameters,
  run: async ({ path, name: givenName }, context) => {
    const { signal } = context;
    // One byte more than may be attached reveals a file that has grown since its size was read.
    const { bytes, fileSize } = await askWorkspace(context, (agent) =>
      agent.readBytes({ path, limit: MAX_FILE_BYTES + 1, signal }),
    );
    const sizeBytes = Math.max(fileSize, bytes.length);
    if (sizeBytes > MAX_FILE_BYTES)
      throw new ToolError(`${path} has ${sizeBytes} bytes; at most ${MAX_FILE_BYTES} can be attached.`);
    const name = plainFileName(givenName ?? basename(path)) ?? "file";
    const content = await contentOf(bytes);
    const byName = content.kind === "text" ? textTypeOfName(name) : UNKNOWN_MEDIA_TYPE;
    const mediaType = content.mediaType ?? byName;
    return new ToolAnswer({ name, media_type: mediaType, size_bytes: bytes.length }, [
      { name, mediaType, bytes },
    ]);
  },
});
