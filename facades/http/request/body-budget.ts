import { overloaded } from "../overloaded.ts";

/** The part of the memory that bodies without a key that was checked may take, all together. */
const smallPart = 1 / 2;
/** The part that bodies of known accounts may take, all together: the rest is a reserve for small bodies. */
const accountsPart = 3 / 4;
/** The part that small bodies of one network may take. */
const networkPart = 1 / 8;
/** The part that bodies of one account may take. */
const accountPart = 1 / 4;

/** Bytes in use of one kind of bodies, with a bound for all of them and one for each owner. */
class Share {
  #used = 0;
  readonly #byOwner = new Map<string, number>();
  readonly #most: number;
  readonly #mostEach: number;

  constructor(most: number, mostEach: number) {
    this.#most = most;
    this.#mostEach = mostEach;
  }

  hasRoom(owner: string, bytes: number): boolean {
    return this.#used + bytes <= this.#most && (this.#byOwner.get(owner) ?? 0) + bytes <= this.#mostEach;
  }

  add(owner: string, bytes: number): void {
    this.#used += bytes;
    const left = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (left === 0) {
      this.#byOwner.delete(owner);
    } else {
      this.#byOwner.set(owner, left);
    }
  }
}

/**
 * Memory for bodies that are being received, all requests together. Thousands of clients that each send a body slowly
 * must not fill it: bytes that come before the key is known count for the client's network, later bytes for the account,
 * and neither can take the room that is reserved for the other.
 */
export class BodyBudget {
  #left: number;
  readonly #networks: Share;
  readonly #accounts: Share;

  /** How many bytes there are in all. */
  constructor(bytes: number) {
    this.#left = bytes;
    this.#networks = new Share(bytes * smallPart, bytes * networkPart);
    this.#accounts = new Share(bytes * accountsPart, bytes * accountPart);
  }

  /** Memory for one body that comes from this network. */
  open(network: string): BodyLease {
    return new BodyLease(this, this.#networks, network);
  }

  /** Takes bytes of a share for an owner. Throws OVERLOADED when there are none. */
  take(share: Share, owner: string, bytes: number): void {
    if (bytes > this.#left || !share.hasRoom(owner, bytes)) {
      throw overloaded("Too many large requests are being received at the moment.", 1);
    }
    share.add(owner, bytes);
    this.#left -= bytes;
  }

  /** Gives back what an owner took of a share. */
  give(share: Share, owner: string, bytes: number): void {
    share.add(owner, -bytes);
    this.#left += bytes;
  }

  /** The share of the accounts. */
  get accounts(): Share {
    return this.#accounts;
  }
}

/** The memory of one body. */
export class BodyLease {
  readonly #budget: BodyBudget;
  #share: Share;
  #owner: string;
  #bytes = 0;

  constructor(budget: BodyBudget, share: Share, owner: string) {
    this.#budget = budget;
    this.#share = share;
    this.#owner = owner;
  }

  /** Has so many bytes from now on. Throws OVERLOADED, and has what it had, when there is no room for more. */
  resize(bytes: number): void {
    if (bytes > this.#bytes) {
      this.#budget.take(this.#share, this.#owner, bytes - this.#bytes);
    } else if (bytes < this.#bytes) {
      this.#budget.give(this.#share, this.#owner, this.#bytes - bytes);
    }
    this.#bytes = bytes;
  }

  /** Counts for an account from now on. Throws OVERLOADED, and has nothing any more, when the account has no room. */
  moveTo(accountId: string): void {
    const bytes = this.#bytes;
    this.resize(0);
    this.#share = this.#budget.accounts;
    this.#owner = accountId;
    this.resize(bytes);
  }
}
