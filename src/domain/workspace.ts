/** Words about workspaces: who makes them and how they stand. */

/** What starts and stops a workspace. `local`: a directory of this machine, always there. */
export const WORKSPACE_PROVISIONERS = ["local"] as const;
export type WorkspaceProvisioner = (typeof WORKSPACE_PROVISIONERS)[number];

export const WORKSPACE_STATUSES = ["stopped", "starting", "running", "stopping", "failed"] as const;
export type WorkspaceStatus = (typeof WORKSPACE_STATUSES)[number];
