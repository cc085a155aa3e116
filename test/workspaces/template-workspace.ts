// A workspace created through the API from a template of its own, with a chat that works in it.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { ApiClient } from "../support/clients/api-client.js";
import type { TestParley } from "../support/parley.js";
import { eventually } from "../support/eventually.js";

export class TemplateWorkspace {
  private constructor(
    readonly api: ApiClient,
    readonly id: string,
    readonly chatId: string,
  ) {}

  /** Resolves when it runs. */
  static async of({ api }: TestParley, template: object): Promise<TemplateWorkspace> {
    const name = `t-${randomUUID().slice(0, 8)}`;
    const input = { name, displayName: name, ...template };
    type TemplateCreated = { template: { id: string } | null; userErrors: object[] };
    const created = await api.change<TemplateCreated>("createWorkspaceTemplate", input, "template { id }");
    expect(created.userErrors).toEqual([]);
    const templateId = created.template?.id;
    type Created = { workspace: { id: string } };
    const { workspace } = await api.change<Created>("createWorkspace", { templateId }, "workspace { id }");
    const { chatId, follower } = await api.quietChat({ workspaceId: workspace.id });
    await follower.close();
    const it = new TemplateWorkspace(api, workspace.id, chatId);
    await it.until("RUNNING");
    return it;
  }

  async status(): Promise<string | null> {
    const query = "query ($id: ID!) { node(id: $id) { ... on Workspace { status failure } } }";
    type Read = { node: { status: string; failure: string | null } | null };
    const { node } = await this.api.get<Read>(query, { id: this.id });
    return node && [node.status, node.failure].filter(Boolean).join(": ");
  }

  until(status: string | null): Promise<void> {
    return eventually(async () => expect(await this.status()).toBe(status));
  }

  async changeState(mutation: "startWorkspace" | "stopWorkspace", status: string): Promise<void> {
    await this.api.change(mutation, { workspaceId: this.id }, "workspace { id }");
    await this.until(status);
  }

  async remove(): Promise<void> {
    await this.api.change("deleteWorkspace", { workspaceId: this.id }, "deletedId");
    await this.until(null);
  }

  /** Runs one turn of the chat with these commands; resolves to the result of the last one. */
  async run(...commands: string[]): Promise<unknown> {
    const follower = await this.api.followFromNow(this.chatId);
    const before = follower.transcript.log.length;
    await this.api.send(this.chatId, commands.map((command) => `run \`${command}\``).join(", then "));
    await follower.until(({ log }) => log.lastIndexOf("status WAITING") >= before);
    await follower.close();
    const nodes = (await this.api.chat(this.chatId))?.messages.nodes ?? [];
    return nodes.findLast(({ role }) => role === "TOOL")?.parts[0]?.result;
  }
}
