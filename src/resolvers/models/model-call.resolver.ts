/** Recorded model calls, for admins. */
import { Arg, Args, Ctx, ID, Query, Resolver } from "type-graphql";
import { type Connection, ForwardPageArguments } from "../../schema/common/connection.js";
import { ModelCallRecord, ModelCallRecordConnection } from "../../schema/models/model-call.type.js";
import { listModelCallRecords } from "../../store/models/model-call-records.js";
import type { Context } from "../common/context.js";
import { MODEL_CALL_LIST, toConnection, toPageRequest } from "../common/page-requests.js";
import { databaseId } from "../common/public-ids.js";

@Resolver(() => ModelCallRecord)
export class ModelCallResolver {
  @Query(() => ModelCallRecordConnection, {
    description:
      "The recorded model calls of a chat, newest first. Default page size: 5, at most 20. Empty if nothing is recorded. Admins only; reading those of another user's chat is recorded in the audit log.",
  })
  async modelCallRecords(
    @Arg("chatId", () => ID, { description: "The chat." }) id: string,
    @Args(() => ForwardPageArguments) args: ForwardPageArguments,
    @Ctx() { database, viewer, noteReads }: Context,
  ): Promise<Connection<ModelCallRecord>> {
    const chatId = databaseId("chat", id, "chatId");
    const page = toPageRequest(MODEL_CALL_LIST, args);
    const found = await listModelCallRecords(database, viewer, { chatId, page });
    await noteReads("calls", [chatId]);
    return toConnection(MODEL_CALL_LIST, found, (record) => record);
  }
}
