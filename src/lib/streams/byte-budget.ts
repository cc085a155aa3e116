/**
 * Per-owner budget of bytes in flight: reserved when data is produced, released when the receiver has it. An owner without
 * bytes in flight takes no memory.
 */

type Waiter = { bytes: number; admit(reservation: ByteReservation): void };
type Account = { used: number; waiting: Waiter[] };

/** Bytes of one owner for one purpose. Must be released; releasing returns whatever is reserved, once. */
export class ByteReservation {
  #bytes = 0;
  #isReleased = false;

  constructor(
    private readonly budget: ByteBudget,
    private readonly owner: string,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** The owner's budget is used up. */
  get isFull(): boolean {
    return this.budget.isFull(this.owner);
  }

  /** Reserves `bytes` in total; false, with nothing changed, when the budget has no room for the increase. */
  resize(bytes: number): boolean {
    if (this.#isReleased) return true;
    const increase = bytes - this.#bytes;
    if (increase > 0 && !this.budget.fits(this.owner, increase)) return false;
    this.force(bytes);
    return true;
  }

  /** Reserves `bytes` in total, beyond the budget if need be: for data that cannot be withdrawn any more. */
  force(bytes: number): void {
    if (this.#isReleased) return;
    this.budget.adjust(this.owner, bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /** Returns everything. The reservation stays empty from then on. */
  release(): void {
    this.force(0);
    this.#isReleased = true;
  }
}

export class ByteBudget {
  readonly #accounts = new Map<string, Account>();

  /** `maxBytes` may be in flight for one owner at one time. */
  constructor(readonly maxBytes: number) {}

  /** An empty reservation. */
  open(owner: string): ByteReservation {
    return new ByteReservation(this, owner);
  }

  used(owner: string): number {
    return this.#accounts.get(owner)?.used ?? 0;
  }

  isFull(owner: string): boolean {
    return this.used(owner) >= this.maxBytes;
  }

  /** The first bytes always fit, so that nothing is too large to be ever produced. */
  fits(owner: string, bytes: number): boolean {
    const used = this.used(owner);
    return used === 0 || used + bytes <= this.maxBytes;
  }

  /** Resolves to a reservation of `bytes` when there is room for them, in the order of the calls. */
  wait(owner: string, bytes: number): Promise<ByteReservation> {
    const account = this.#of(owner);
    return new Promise((resolve) => {
      account.waiting.push({ bytes, admit: resolve });
      this.#admit(owner, account);
    });
  }

  /** Adds `bytes` to the owner's use; negative ones are returned. For reservations only. */
  adjust(owner: string, bytes: number): void {
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
      if (!first || !this.fits(owner, first.bytes)) break;
      account.waiting.shift();
      const reservation = this.open(owner);
      reservation.force(first.bytes);
      first.admit(reservation);
    }
    if (account.used === 0 && account.waiting.length === 0) this.#accounts.delete(owner);
  }
}
