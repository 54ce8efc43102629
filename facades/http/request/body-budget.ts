import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { refusedHere } from "../refused-here.ts";

/** The part of the memory for all bodies whose key is not checked yet. */
const smallPart = 1 / 2;
/** The part for all bodies of known accounts. The rest is reserved for small bodies. */
const accountsPart = 3 / 4;
/** The part for small bodies of one network. */
const networkPart = 1 / 8;
/** The part for bodies of one account. */
const accountPart = 1 / 4;

/** The bytes in use by one kind of body, with a bound for all of them and one for each owner. */
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
 * Memory for all request bodies that are being received. Thousands of clients that each send a body slowly must not
 * fill it. Bytes that arrive before the key is known count for the client's network, later bytes for the account, and
 * neither kind can take the room that is reserved for the other.
 */
export class BodyBudget {
  #left: number;
  readonly #refused: () => void;
  readonly #networks: Share;
  readonly #accounts: Share;

  /** `bytes` is the size of the whole memory. `refused` is called with each body for which there is no room. */
  constructor(bytes: number, refused: () => void = () => {}) {
    this.#left = bytes;
    this.#refused = refused;
    this.#networks = new Share(bytes * smallPart, bytes * networkPart);
    this.#accounts = new Share(bytes * accountsPart, bytes * accountPart);
  }

  /** The memory of one body that comes from this network. */
  open(network: string): BodyLease {
    return new BodyLease(this, this.#networks, network);
  }

  /** Takes bytes from a share for an owner. Throws OVERLOADED when there are not enough. */
  take(share: Share, owner: string, bytes: number): void {
    if (bytes > this.#left || !share.hasRoom(owner, bytes)) {
      this.#refused();
      throw refusedHere(Reason.OVERLOADED, "Too many large requests are being received at the moment.", 1);
    }
    share.add(owner, bytes);
    this.#left -= bytes;
  }

  /** Returns an owner's bytes to a share. */
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

  /** Sets the bytes that the body takes. When there is no room, throws OVERLOADED and keeps the previous bytes. */
  resize(bytes: number): void {
    if (bytes > this.#bytes) {
      this.#budget.take(this.#share, this.#owner, bytes - this.#bytes);
    } else if (bytes < this.#bytes) {
      this.#budget.give(this.#share, this.#owner, this.#bytes - bytes);
    }
    this.#bytes = bytes;
  }

  /** Moves the body to an account's share. When the account has no room, throws OVERLOADED and keeps no bytes. */
  moveTo(accountId: string): void {
    const bytes = this.#bytes;
    this.resize(0);
    this.#share = this.#budget.accounts;
    this.#owner = accountId;
    this.resize(bytes);
  }
}
