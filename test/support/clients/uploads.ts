// Uploads as a client makes them: announced over GraphQL, sent over HTTP.
import type { ApiClient } from "./api-client.js";
import type { UserErrors } from "../models/model-setup.js";

export type ShownFile = {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  isAvailable: boolean;
};
export type Announced = {
  file: ShownFile | null;
  uploadUrl: string | null;
  expiresAt: string | null;
  userErrors: UserErrors;
};
export type Given = { name?: string; mediaType?: string; bytes: Uint8Array };

export function announce(api: ApiClient, input: object): Promise<Announced> {
  const fields = "file { id name mediaType sizeBytes isAvailable } uploadUrl expiresAt";
  return api.change<Announced>(
    "createFileUpload",
    { name: "a.bin", mediaType: "application/octet-stream", sizeBytes: 3, ...input },
    fields,
  );
}

export async function put(url: string | null, bytes: Uint8Array, headers: Record<string, string> = {}) {
  const response = await fetch(url ?? "", { method: "PUT", body: Buffer.from(bytes), headers });
  type Answer = {
    id?: string;
    mediaType?: string;
    errors?: { message: string; extensions: { code: string } }[];
  };
  const body = (await response.json()) as Answer;
  return { status: response.status, body, code: body.errors?.[0]?.extensions.code };
}

/** Uploads a file; returns its id. */
export async function upload(
  api: ApiClient,
  { name = "a.bin", mediaType = "application/octet-stream", bytes }: Given,
): Promise<string> {
  const { file, uploadUrl, userErrors } = await announce(api, { name, mediaType, sizeBytes: bytes.length });
  if (!file) throw new Error(JSON.stringify(userErrors));
  const { status, body } = await put(uploadUrl, bytes);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return file.id;
}

export async function findFile(api: ApiClient, id: string): Promise<(ShownFile & { url: string }) | null> {
  const query =
    "query ($id: ID!) { node(id: $id) { ... on File { id name mediaType sizeBytes isAvailable url } } }";
  return (await api.get<{ node: (ShownFile & { url: string }) | null }>(query, { id })).node;
}
