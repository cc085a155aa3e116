/**
 * Counts bytes that are under way for each owner: taken when they are made, given back when somebody else has them. An
 * owner without bytes under way takes no memory.
 */

type Waiter = { bytes: number; admit(hold: ByteHold): void };
type Account = { used: number; waiting: Waiter[] };

/** Bytes of one owner for one purpose. They must be released; whatever is held then is given back once. */
export class ByteHold {
  #held = 0;
  #isReleased = false;

  constructor(
    private readonly accounts: ByteAccounts,
    private readonly owner: string,
  ) {}

  get bytes(): number {
    return this.#held;
  }

  /** The owner has as many bytes under way as may be. */
  get isFull(): boolean {
    return this.accounts.isFull(this.owner);
  }

  /** Holds so many bytes from now on; false when the owner has no room for more than are held, and nothing changed. */
  resize(bytes: number): boolean {
    if (this.#isReleased) return true;
    const more = bytes - this.#held;
    if (more > 0 && !this.accounts.hasRoom(this.owner, more)) return false;
    this.force(bytes);
    return true;
  }

  /** Holds so many bytes from now on, beyond what may be if need be: for what cannot be taken back any more. */
  force(bytes: number): void {
    if (this.#isReleased) return;
    this.accounts.move(this.owner, bytes - this.#held);
    this.#held = bytes;
  }

  /** Gives everything back; nothing can be held by it any more. */
  release(): void {
    this.force(0);
    this.#isReleased = true;
  }
}

export class ByteAccounts {
  readonly #accounts = new Map<string, Account>();

  /** `maxBytes` may be under way for one owner at one time. */
  constructor(readonly maxBytes: number) {}

  /** A hold without bytes. */
  open(owner: string): ByteHold {
    return new ByteHold(this, owner);
  }

  used(owner: string): number {
    return this.#accounts.get(owner)?.used ?? 0;
  }

  isFull(owner: string): boolean {
    return this.used(owner) >= this.maxBytes;
  }

  /** The first bytes always have room, so that nothing is too large to be ever made. */
  hasRoom(owner: string, bytes: number): boolean {
    const used = this.used(owner);
    return used === 0 || used + bytes <= this.maxBytes;
  }

  /** Resolves to a hold of so many bytes when there is room for them, in the order of asking. */
  wait(owner: string, bytes: number): Promise<ByteHold> {
    const account = this.#of(owner);
    return new Promise((resolve) => {
      account.waiting.push({ bytes, admit: resolve });
      this.#admit(owner, account);
    });
  }

  /** Counts bytes that are taken, or given back when negative. For holds. */
  move(owner: string, bytes: number): void {
    if (bytes === 0) return;
    const account = this.#of(owner);
    account.used += bytes;
    if (bytes < 0) this.#admit(owner, account);
  }

  #of(owner: string): Account {
    const known = this.#accounts.get(owner);
    if (known) return known;
    const account: Account = { used: 0, waiting: [] };
    this.#accounts.set(owner, account);
    return account;
  }

  #admit(owner: string, account: Account): void {
    for (;;) {
      const first = account.waiting[0];
      if (!first || !this.hasRoom(owner, first.bytes)) break;
      account.waiting.shift();
      const hold = this.open(owner);
      hold.force(first.bytes);
      first.admit(hold);
    }
    if (account.used === 0 && account.waiting.length === 0) this.#accounts.delete(owner);
  }
}
