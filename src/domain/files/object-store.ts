/** Port of an object store for file contents, used instead of the database. Methods reject when the store fails. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /** At most `length` bytes from offset `first`; empty when there is no such object or it ends before. */
  read(key: string, first: number, length: number): Promise<Uint8Array>;
  /** Succeeds also when there is no such object. */
  remove(key: string): Promise<void>;
  close(): void;
}
