import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { newApiKey, toDigest } from "#src/identity/accounts/keys/api-key.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import type { Caller } from "#src/wire/principal.ts";
import type { SimulatedServer } from "../database/server.ts";
import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Customer } from "./customers.ts";
import { type Door, keyPrefix, pepper, serviceToken } from "./door.ts";
import type { Machine } from "./machine.ts";

/** The end of a key, or of all requests of an account, as an operator was told it. */
export interface Ended {
  readonly at: number;
  /** The process that told it. */
  readonly process: SimulatedProcess;
}

/** How often somebody goes on with a key that has ended. */
const oldPart = 0.15;
/** What an operator may be refused: the key has ended or was rotated, perhaps by a call whose reply was lost. */
const usual: ReadonlySet<string> = new Set(["KEY_STATE_CONFLICT", "LEDGER_UNAVAILABLE", "SHUTTING_DOWN"]);

/** How many were begun, and how many are known to be done. */
interface Unfreezes {
  begun: number;
  done: number;
}

/** Operators who rotate and revoke keys and freeze accounts while requests run, and customers who go on with old keys. */
export class Keys {
  /** By key, and by account while it is frozen. */
  readonly ended = new Map<string, Ended>();
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #history: History;
  readonly #machines: readonly Machine[];
  readonly #customers: readonly Customer[];
  /** By key. */
  readonly #secrets = new Map<string, string>();
  /** By account. */
  readonly #old = new Map<string, Caller[]>();
  /** By account. */
  readonly #unfreezes = new Map<string, Unfreezes>();
  #stopped = false;

  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    history: History;
    machines: readonly Machine[];
    customers: readonly Customer[];
  }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#history = parts.history;
    this.#machines = parts.machines;
    this.#customers = parts.customers;
  }

  /** Stores a customer's keys. Their budgets are the world's own. */
  issue({ tables }: SimulatedServer, { accountId, callers }: Customer, at: number): void {
    for (const { keyId } of callers.filter((one) => one.keyId !== "")) {
      const secret = newApiKey(keyPrefix, this.#dice);
      this.#secrets.set(keyId, secret);
      tables.run(
        `insert into api_key (id, account_id, name, digest, pepper_version, prefix, last4, created_at)
         values (?, ?, '', ?, 1, '', '', ?)`,
        ...[keyId, accountId, toDigest(secret, pepper), at],
      );
    }
  }

  /** What a caller shows at a door. */
  credentialOf({ keyId }: Caller): string {
    return keyId === "" ? serviceToken : (this.#secrets.get(keyId) ?? "");
  }

  /** A caller who goes on with an old key. Undefined: mostly. */
  findOld({ accountId }: Customer): Caller | undefined {
    const old = this.#old.get(accountId) ?? [];
    return old.length > 0 && this.#dice.chance(oldPart) ? this.#dice.pick(old) : undefined;
  }

  begin(meanMs = this.#dice.pick([300, 1000, 4000])): void {
    this.#timeline.after(this.#dice.exponential(meanMs), () => {
      if (!this.#stopped) {
        this.begin(meanMs);
        this.#act();
      }
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  #act(): void {
    const { life } = this.#dice.pick(this.#machines);
    const customer = this.#dice.pick(this.#customers);
    const drawn = this.#dice.fraction();
    const place = this.#dice.between(0, customer.callers.length - 1);
    const overlapMs = this.#dice.pick([0, 1000, 30_000, 30_000]);
    const { door, process } = life ?? {};
    if (door === undefined || process === undefined) {
      return;
    }
    process.reach(() => {
      const { accountId } = customer;
      if (drawn < 0.1) {
        this.#freeze(accountId, { door, process });
      } else if (drawn < 0.3) {
        this.#unfreeze(accountId, door);
      } else {
        this.#rotate(customer, place, { door, process, overlapMs });
      }
    });
  }

  /** Whether an account is frozen is known where no unfreeze was under way beside: either may have come last. */
  #freeze(accountId: string, { door, process }: { readonly door: Door; readonly process: SimulatedProcess }): void {
    const unfreezes = this.#unfreezesOf(accountId);
    const { begun, done } = unfreezes;
    this.#follow(door.freeze(accountId), () => {
      if (begun === done && unfreezes.begun === begun) {
        this.ended.set(accountId, { at: this.#timeline.now, process });
      }
    });
  }

  #unfreeze(accountId: string, door: Door): void {
    const unfreezes = this.#unfreezesOf(accountId);
    unfreezes.begun++;
    this.ended.delete(accountId);
    this.#follow(door.unfreeze(accountId), () => {
      unfreezes.done++;
      this.ended.delete(accountId);
    });
  }

  #unfreezesOf(accountId: string): Unfreezes {
    const found = this.#unfreezes.get(accountId) ?? { begun: 0, done: 0 };
    this.#unfreezes.set(accountId, found);
    return found;
  }

  /** Rotates a key, and sometimes ends the old one before its time. */
  #rotate(
    { accountId, callers }: Customer,
    place: number,
    { door, process, overlapMs }: { door: Door; process: SimulatedProcess; overlapMs: number },
  ): void {
    const caller = callers[place];
    if (caller === undefined || caller.keyId === "") {
      return;
    }
    const isRevoked = this.#dice.chance(0.6);
    this.#follow(door.rotate(caller.keyId, overlapMs), ({ keyId, secret }) => {
      this.#secrets.set(keyId, secret);
      const at = callers.findIndex((one) => one.keyId === caller.keyId);
      callers[at] = { ...(callers[at] ?? caller), keyId, limitsOf: caller.limitsOf ?? caller.keyId };
      this.#old.set(accountId, [...(this.#old.get(accountId) ?? []), caller]);
      this.#history.note(`key ${keyId} takes the place of ${caller.keyId}, which works on for ${overlapMs} ms`);
      this.ended.set(caller.keyId, { at: this.#timeline.now + overlapMs, process });
      if (isRevoked && overlapMs > 0) {
        const revoked = () => this.ended.set(caller.keyId, { at: this.#timeline.now, process });
        this.#follow(door.revoke(caller.keyId), revoked);
      }
    });
  }

  #follow<T>(deed: Promise<T>, done: (result: T) => void): void {
    deed.then(done, (error: unknown) => {
      const reason = Reason[readDetail(error)?.reason ?? 0] ?? "";
      this.#history.note(`keys may not be changed: ${String(error)}`);
      if (!usual.has(reason) && !isUnreachable(error) && !/terminated/.test((error as Error).message)) {
        this.#history.violation("reasons", `a change of keys failed: ${(error as Error).stack}`);
      }
    });
  }
}
