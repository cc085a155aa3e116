/** File uploads, and files' URLs and availability. */
import { Arg, Args, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import { decodeId } from "../../domain/common/ids.js";
import { Chat } from "../../schema/chats/chat.type.js";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import {
  CreateFileUploadInput,
  CreateFileUploadPayload,
  File,
  FileConnection,
} from "../../schema/files/file.type.js";
import { DateTimeScalar } from "../../schema/scalars/date-time.js";
import { UrlScalar } from "../../schema/scalars/url.js";
import { listChatFiles } from "../../store/files/files.js";
import type { Context } from "../common/context.js";
import { newestFirst, toConnection, toPageRequest } from "../common/page-requests.js";
import { toFile } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";

const OF_CHAT = newestFirst("chat.files");

@Resolver(() => File)
export class FileResolver {
  @FieldResolver(() => UrlScalar, {
    description:
      "A URL to download the file from. Works without a token for 15 to 30 minutes; query it again after that. Supports range requests.",
  })
  url(@Root() file: File, @Ctx() context: Context): string {
    return context.fileUrl(idOf(file));
  }

  @FieldResolver(() => Boolean, {
    description:
      "Whether the file can be downloaded. False before it is uploaded, and after it was removed to make room for newer files of its chat.",
  })
  async isAvailable(@Root() file: File, @Ctx() { loaders }: Context): Promise<boolean> {
    return (await loaders.files.load(idOf(file))) !== null;
  }

  @FieldResolver(() => DateTimeScalar, {
    nullable: true,
    description: "When the file was uploaded. Null if it is not available.",
  })
  async createdAt(@Root() file: File, @Ctx() { loaders }: Context): Promise<Date | null> {
    return (await loaders.files.load(idOf(file)))?.createdAt ?? null;
  }

  @Mutation(() => CreateFileUploadPayload, {
    description:
      "Announces a file and returns a URL to upload it to within an hour. A user may have at most 50 files that are not in a chat; such files are deleted after a day.",
  })
  async createFileUpload(
    @Arg("input", () => CreateFileUploadInput, { description: "The parameters of the mutation." })
    input: CreateFileUploadInput,
    @Ctx() { commands, viewer, uploadUrl }: Context,
  ): Promise<CreateFileUploadPayload> {
    const result = await commands.createFileUpload(viewer, input);
    if (!result.ok)
      return { file: null, uploadUrl: null, expiresAt: null, userErrors: toUserErrors(result.refusal) };
    const { file, expiresAt } = result;
    return {
      file: toFile(file),
      uploadUrl: uploadUrl(file.id, expiresAt),
      expiresAt: new Date(expiresAt),
      userErrors: [],
    };
  }
}

@Resolver(() => Chat)
export class ChatFilesResolver {
  @FieldResolver(() => FileConnection, {
    description:
      "Files added to the chat by users and tools, newest first. Default page size: 25. A chat keeps at most 50 files; the oldest are removed first.",
  })
  async files(
    @Root() chat: Chat,
    @Args(() => ForwardPageArguments) args: ForwardPageArguments,
    @Ctx() { database }: Context,
  ): Promise<Connection<File>> {
    const page = toPageRequest(OF_CHAT, args);
    return toConnection(OF_CHAT, await listChatFiles(database, chat.chatId, page), toFile);
  }
}

function idOf(file: File): string {
  const fileId = decodeId("file", file.id);
  if (fileId === null) throw new Error(`${file.id} is not the id of a file.`);
  return fileId;
}
