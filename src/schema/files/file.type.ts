/** Files in chats, and uploads. */
import { Field, InputType, Int, ObjectType } from "type-graphql";
import { connectionType } from "../common/connection.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("File", { implements: Node, simpleResolvers: true, description: "A file in a chat." })
export class File implements Node {
  readonly __typename!: "File";

  id!: string;

  @Field(() => String, { description: "The file's name, without a path." })
  name!: string;

  @Field(() => String, { description: "The file's media type, for example `image/png`." })
  mediaType!: string;

  @Field(() => Int, { description: "The file's size in bytes." })
  sizeBytes!: number;
}

export const FileConnection = connectionType(File, "File");

@InputType("CreateFileUploadInput", { description: "Input of `createFileUpload`." })
export class CreateFileUploadInput {
  @Field(() => String, {
    description:
      "The file's name. Folders and invisible characters are removed, and it is truncated to 255 bytes.",
  })
  name!: string;

  @Field(() => String, {
    description:
      "The file's media type, for example `image/png`. With `application/octet-stream` the server detects it. Uploads whose content does not match are rejected.",
  })
  mediaType!: string;

  @Field(() => Int, { description: "The exact size of the file in bytes: 1 to 10,485,760." })
  sizeBytes!: number;
}

@ObjectType("CreateFileUploadPayload", {
  simpleResolvers: true,
  description:
    "The announced file. Upload its bytes with a PUT request to `uploadUrl`; the file can be used once that succeeds.",
})
export class CreateFileUploadPayload {
  @Field(() => File, {
    nullable: true,
    description: "The file. Its `mediaType` may change with the upload. Null if the mutation was refused.",
  })
  file!: File | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "The URL to PUT the bytes to; needs no token. Null if the mutation was refused.",
  })
  uploadUrl!: string | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      "When the upload URL expires. A file that has not been uploaded by then is deleted some minutes later.",
  })
  expiresAt!: Date | null;

  @Field(() => [UserError], { description: "Why the mutation was refused. Empty on success." })
  userErrors!: UserError[];
}
