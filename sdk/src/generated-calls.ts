import type { DocumentNode } from 'graphql';
import * as Operations from './generated.js';































export type Requester<C = {}> = <R, V>(doc: DocumentNode, vars?: V, options?: C) => Promise<R> | AsyncIterable<R>
export function getSdk<C>(requester: Requester<C>) {
  return {
    chatList(variables?: Operations.ChatListQueryVariables, options?: C): Promise<Operations.ChatListQuery> {
      return requester<Operations.ChatListQuery, Operations.ChatListQueryVariables>(Operations.ChatListDocument, variables, options) as Promise<Operations.ChatListQuery>;
    },
    markChatRead(variables: Operations.MarkChatReadMutationVariables, options?: C): Promise<Operations.MarkChatReadMutation> {
      return requester<Operations.MarkChatReadMutation, Operations.MarkChatReadMutationVariables>(Operations.MarkChatReadDocument, variables, options) as Promise<Operations.MarkChatReadMutation>;
    },
    chatListEvents(variables?: Operations.ChatListEventsSubscriptionVariables, options?: C): AsyncIterable<Operations.ChatListEventsSubscription> {
      return requester<Operations.ChatListEventsSubscription, Operations.ChatListEventsSubscriptionVariables>(Operations.ChatListEventsDocument, variables, options) as AsyncIterable<Operations.ChatListEventsSubscription>;
    },
    createChat(variables: Operations.CreateChatMutationVariables, options?: C): Promise<Operations.CreateChatMutation> {
      return requester<Operations.CreateChatMutation, Operations.CreateChatMutationVariables>(Operations.CreateChatDocument, variables, options) as Promise<Operations.CreateChatMutation>;
    },
    sendChatMessage(variables: Operations.SendChatMessageMutationVariables, options?: C): Promise<Operations.SendChatMessageMutation> {
      return requester<Operations.SendChatMessageMutation, Operations.SendChatMessageMutationVariables>(Operations.SendChatMessageDocument, variables, options) as Promise<Operations.SendChatMessageMutation>;
    },
    editChatMessage(variables: Operations.EditChatMessageMutationVariables, options?: C): Promise<Operations.EditChatMessageMutation> {
      return requester<Operations.EditChatMessageMutation, Operations.EditChatMessageMutationVariables>(Operations.EditChatMessageDocument, variables, options) as Promise<Operations.EditChatMessageMutation>;
    },
    submitToolResults(variables: Operations.SubmitToolResultsMutationVariables, options?: C): Promise<Operations.SubmitToolResultsMutation> {
      return requester<Operations.SubmitToolResultsMutation, Operations.SubmitToolResultsMutationVariables>(Operations.SubmitToolResultsDocument, variables, options) as Promise<Operations.SubmitToolResultsMutation>;
    },
    retryChat(variables: Operations.RetryChatMutationVariables, options?: C): Promise<Operations.RetryChatMutation> {
      return requester<Operations.RetryChatMutation, Operations.RetryChatMutationVariables>(Operations.RetryChatDocument, variables, options) as Promise<Operations.RetryChatMutation>;
    },
    interruptChat(variables: Operations.InterruptChatMutationVariables, options?: C): Promise<Operations.InterruptChatMutation> {
      return requester<Operations.InterruptChatMutation, Operations.InterruptChatMutationVariables>(Operations.InterruptChatDocument, variables, options) as Promise<Operations.InterruptChatMutation>;
    },
    archiveChat(variables: Operations.ArchiveChatMutationVariables, options?: C): Promise<Operations.ArchiveChatMutation> {
      return requester<Operations.ArchiveChatMutation, Operations.ArchiveChatMutationVariables>(Operations.ArchiveChatDocument, variables, options) as Promise<Operations.ArchiveChatMutation>;
    },
    unarchiveChat(variables: Operations.UnarchiveChatMutationVariables, options?: C): Promise<Operations.UnarchiveChatMutation> {
      return requester<Operations.UnarchiveChatMutation, Operations.UnarchiveChatMutationVariables>(Operations.UnarchiveChatDocument, variables, options) as Promise<Operations.UnarchiveChatMutation>;
    },
    promoteQueuedMessage(variables: Operations.PromoteQueuedMessageMutationVariables, options?: C): Promise<Operations.PromoteQueuedMessageMutation> {
      return requester<Operations.PromoteQueuedMessageMutation, Operations.PromoteQueuedMessageMutationVariables>(Operations.PromoteQueuedMessageDocument, variables, options) as Promise<Operations.PromoteQueuedMessageMutation>;
    },
    deleteQueuedMessage(variables: Operations.DeleteQueuedMessageMutationVariables, options?: C): Promise<Operations.DeleteQueuedMessageMutation> {
      return requester<Operations.DeleteQueuedMessageMutation, Operations.DeleteQueuedMessageMutationVariables>(Operations.DeleteQueuedMessageDocument, variables, options) as Promise<Operations.DeleteQueuedMessageMutation>;
    },
    StartMcpOauth(variables: Operations.StartMcpOauthMutationVariables, options?: C): Promise<Operations.StartMcpOauthMutation> {
      return requester<Operations.StartMcpOauthMutation, Operations.StartMcpOauthMutationVariables>(Operations.StartMcpOauthDocument, variables, options) as Promise<Operations.StartMcpOauthMutation>;
    },
    DisconnectMcpServer(variables: Operations.DisconnectMcpServerMutationVariables, options?: C): Promise<Operations.DisconnectMcpServerMutation> {
      return requester<Operations.DisconnectMcpServerMutation, Operations.DisconnectMcpServerMutationVariables>(Operations.DisconnectMcpServerDocument, variables, options) as Promise<Operations.DisconnectMcpServerMutation>;
    },
    refreshChatDiff(variables: Operations.RefreshChatDiffMutationVariables, options?: C): Promise<Operations.RefreshChatDiffMutation> {
      return requester<Operations.RefreshChatDiffMutation, Operations.RefreshChatDiffMutationVariables>(Operations.RefreshChatDiffDocument, variables, options) as Promise<Operations.RefreshChatDiffMutation>;
    },
    createFileUpload(variables: Operations.CreateFileUploadMutationVariables, options?: C): Promise<Operations.CreateFileUploadMutation> {
      return requester<Operations.CreateFileUploadMutation, Operations.CreateFileUploadMutationVariables>(Operations.CreateFileUploadDocument, variables, options) as Promise<Operations.CreateFileUploadMutation>;
    },
    viewer(variables?: Operations.ViewerQueryVariables, options?: C): Promise<Operations.ViewerQuery> {
      return requester<Operations.ViewerQuery, Operations.ViewerQueryVariables>(Operations.ViewerDocument, variables, options) as Promise<Operations.ViewerQuery>;
    },
    deployment(variables?: Operations.DeploymentQueryVariables, options?: C): Promise<Operations.DeploymentQuery> {
      return requester<Operations.DeploymentQuery, Operations.DeploymentQueryVariables>(Operations.DeploymentDocument, variables, options) as Promise<Operations.DeploymentQuery>;
    },
    chat(variables: Operations.ChatQueryVariables, options?: C): Promise<Operations.ChatQuery> {
      return requester<Operations.ChatQuery, Operations.ChatQueryVariables>(Operations.ChatDocument, variables, options) as Promise<Operations.ChatQuery>;
    },
    chats(variables?: Operations.ChatsQueryVariables, options?: C): Promise<Operations.ChatsQuery> {
      return requester<Operations.ChatsQuery, Operations.ChatsQueryVariables>(Operations.ChatsDocument, variables, options) as Promise<Operations.ChatsQuery>;
    },
    node(variables: Operations.NodeQueryVariables, options?: C): Promise<Operations.NodeQuery> {
      return requester<Operations.NodeQuery, Operations.NodeQueryVariables>(Operations.NodeDocument, variables, options) as Promise<Operations.NodeQuery>;
    },
    nodes(variables: Operations.NodesQueryVariables, options?: C): Promise<Operations.NodesQuery> {
      return requester<Operations.NodesQuery, Operations.NodesQueryVariables>(Operations.NodesDocument, variables, options) as Promise<Operations.NodesQuery>;
    },
    queuedMessage(variables: Operations.QueuedMessageQueryVariables, options?: C): Promise<Operations.QueuedMessageQuery> {
      return requester<Operations.QueuedMessageQuery, Operations.QueuedMessageQueryVariables>(Operations.QueuedMessageDocument, variables, options) as Promise<Operations.QueuedMessageQuery>;
    },
    modelProviders(variables?: Operations.ModelProvidersQueryVariables, options?: C): Promise<Operations.ModelProvidersQuery> {
      return requester<Operations.ModelProvidersQuery, Operations.ModelProvidersQueryVariables>(Operations.ModelProvidersDocument, variables, options) as Promise<Operations.ModelProvidersQuery>;
    },
    modelConfigs(variables?: Operations.ModelConfigsQueryVariables, options?: C): Promise<Operations.ModelConfigsQuery> {
      return requester<Operations.ModelConfigsQuery, Operations.ModelConfigsQueryVariables>(Operations.ModelConfigsDocument, variables, options) as Promise<Operations.ModelConfigsQuery>;
    },
    workspaces(variables?: Operations.WorkspacesQueryVariables, options?: C): Promise<Operations.WorkspacesQuery> {
      return requester<Operations.WorkspacesQuery, Operations.WorkspacesQueryVariables>(Operations.WorkspacesDocument, variables, options) as Promise<Operations.WorkspacesQuery>;
    },
    auditLog(variables?: Operations.AuditLogQueryVariables, options?: C): Promise<Operations.AuditLogQuery> {
      return requester<Operations.AuditLogQuery, Operations.AuditLogQueryVariables>(Operations.AuditLogDocument, variables, options) as Promise<Operations.AuditLogQuery>;
    },
    chatDiff(variables: Operations.ChatDiffQueryVariables, options?: C): Promise<Operations.ChatDiffQuery> {
      return requester<Operations.ChatDiffQuery, Operations.ChatDiffQueryVariables>(Operations.ChatDiffDocument, variables, options) as Promise<Operations.ChatDiffQuery>;
    },
    chatEvents(variables: Operations.ChatEventsSubscriptionVariables, options?: C): AsyncIterable<Operations.ChatEventsSubscription> {
      return requester<Operations.ChatEventsSubscription, Operations.ChatEventsSubscriptionVariables>(Operations.ChatEventsDocument, variables, options) as AsyncIterable<Operations.ChatEventsSubscription>;
    }
  };
}
export type Sdk = ReturnType<typeof getSdk>;