/** Files that people or tools have given to a chat. */
import { Field, InputType, Int, ObjectType } from "type-graphql";
import { connectionType } from "../common/connection.js";
import { Node } from "../common/node.interface.js";
import { DateTimeScalar } from "../scalars/date-time.js";
import { UrlScalar } from "../scalars/url.js";
import { UserError } from "../common/user-error.interface.js";

@ObjectType("File", { implements: Node, simpleResolvers: true, description: "A file of a chat." })
export class File implements Node {
  readonly __typename!: "File";

  id!: string;

  @Field(() => String, { description: "Its name, without a path." })
  name!: string;

  @Field(() => String, { description: "Its media type, for example `image/png`." })
  mediaType!: string;

  @Field(() => Int, { description: "Its size in bytes." })
  sizeBytes!: number;
}

export const FileConnection = connectionType(File, "File");

@InputType("CreateFileUploadInput", { description: "A file whose bytes are about to come." })
export class CreateFileUploadInput {
  @Field(() => String, {
    description: "Its name; folders and signs that cannot be seen are left out, at most 255 bytes stay.",
  })
  name!: string;

  @Field(() => String, {
    description:
      "What it is, for example `image/png`; `application/octet-stream` leaves that to the server. Bytes that are something else are refused.",
  })
  mediaType!: string;

  @Field(() => Int, { description: "How many bytes will come, exactly; 1 to 10,485,760." })
  sizeBytes!: number;
}

@ObjectType("CreateFileUploadPayload", {
  simpleResolvers: true,
  description: "PUT the bytes to `uploadUrl`; the file is usable once that succeeds.",
})
export class CreateFileUploadPayload {
  @Field(() => File, {
    nullable: true,
    description: "Null when it was refused. Its `mediaType` may become another one with its bytes.",
  })
  file!: File | null;

  @Field(() => UrlScalar, {
    nullable: true,
    description: "Where to PUT the bytes, without a token. Null when it was refused.",
  })
  uploadUrl!: string | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: "Until when that works; without its bytes the file is gone some minutes later.",
  })
  expiresAt!: Date | null;

  @Field(() => [UserError], { description: "Why nothing was done; empty on success." })
  userErrors!: UserError[];
}
