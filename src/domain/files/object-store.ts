/** Where bytes of files may be kept instead of the database. */

/** Every method rejects when the store refuses or cannot be reached. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  /** At most `length` bytes from `first` on, counted from 0; none when there is no such object or it ends there. */
  read(key: string, first: number, length: number): Promise<Uint8Array>;
  /** Also when there is none. */
  remove(key: string): Promise<void>;
  close(): void;
}
