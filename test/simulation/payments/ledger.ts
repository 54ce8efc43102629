import { LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Accounts } from "#src/checkout/dependencies.ts";
import type { Wire } from "../database/wire.ts";

/** Money that the ledger was told of. */
interface Movement {
  readonly accountId: string;
  /** In pico-USD; below 0 it left. */
  readonly amount: bigint;
}

/** A crossing that comes late was taken by a balance that was told at most so many looks before. */
const mostTold = 10;

class Held {
  balance = 0n;
  frozen = false;
  /** The highest balance since its card was charged. */
  highest = 0n;
  /** The last balances that cores were told. By one of them its last crossing was taken, which may have come late. */
  told: readonly bigint[] = [];
  /** Whether its last charge would have lifted to the bound what was there at the crossing, whatever left since then. */
  wasLifted = false;
  /** Whether auto top-up was set since its card was charged, and how many times it is being set. */
  isSetAnew = false;
  setsUnderWay = 0;

  change(by: bigint): void {
    this.balance += by;
    if (this.balance > this.highest) {
      this.highest = this.balance;
    }
  }
}

/** The ledger as buying credit knows it: each reference moves money once. What it promises, other worlds try. */
export class Ledger {
  readonly accounts = new Map<string, Held>();
  readonly movements = new Map<string, Movement>();

  open(accountId: string): void {
    this.accounts.set(accountId, new Held());
  }

  of(accountId: string): Held {
    const found = this.accounts.get(accountId);
    if (found === undefined) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
    }
    return found;
  }

  /** What an account has paid, less what went back. */
  paid(accountId: string): bigint {
    const mine = [...this.movements.values()].filter((one) => one.accountId === accountId);
    return mine.reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** Spends what is there, up to an amount. */
  spend(accountId: string, most: bigint): void {
    const account = this.of(accountId);
    account.change(-(account.balance > most ? most : account.balance > 0n ? account.balance : 0n));
  }

  #move(reference: string, accountId: string, amount: bigint): void {
    const before = this.movements.get(reference);
    if (before === undefined) {
      this.of(accountId).change(amount);
      this.movements.set(reference, { accountId, amount });
    } else if (before.accountId !== accountId || before.amount !== amount) {
      throw failure(Reason.PAYMENT_REFERENCE_CONFLICT, "The reference was used for something else.");
    }
  }

  #show(id: string): object {
    const { balance, frozen } = this.of(id);
    const balancePicoUsd = balance > 0n ? balance : 0n;
    const lots = [{ kind: LotKind.PAID, remainingPicoUsd: balancePicoUsd }];
    return { id, balancePicoUsd, debtPicoUsd: balancePicoUsd - balance, frozen, lots, heldPicoUsd: 0n };
  }

  /** The accounts service of a core, over its wire. */
  serve(wire: Pick<Wire, "call">): Accounts {
    const answer =
      <Asked>(name: string, run: (asked: Asked) => object) =>
      (asked: Asked) =>
        wire.call(name, () => run(asked));
    const service = {
      topUp: answer<Paid>("top up", ({ accountId, amountPicoUsd, reference, validateOnly }) => {
        this.of(accountId);
        if (!validateOnly) {
          this.#move(reference, accountId, amountPicoUsd);
        }
        const { balance } = this.of(accountId);
        return { accountId, balancePicoUsd: balance > 0n ? balance : 0n };
      }),
      refund: answer<Paid>("refund", ({ accountId, amountPicoUsd, reference, intoDebt }) => {
        const isNew = !this.movements.has(reference);
        if (isNew && !intoDebt && this.of(accountId).balance < amountPicoUsd) {
          throw failure(Reason.REFUND_EXCEEDS_BALANCE, "It is spent.");
        }
        if (isNew && amountPicoUsd > this.paid(accountId)) {
          throw failure(Reason.REFUND_EXCEEDS_BALANCE, "It has not paid so much.");
        }
        this.#move(reference, accountId, -amountPicoUsd);
        return {};
      }),
      freezeAccount: answer<Named>("freeze", ({ accountId }) => {
        this.of(accountId).frozen = true;
        return {};
      }),
      getAccount: answer<Named>("get", ({ accountId }) => ({ account: this.#show(accountId) })),
      listAccounts: answer<{ readonly accountIds: readonly string[] }>("list", ({ accountIds }) => ({
        accounts: accountIds.map((id) => {
          const held = this.of(id);
          held.told = [...held.told.slice(1 - mostTold), held.balance];
          return this.#show(id);
        }),
      })),
    };
    return service as unknown as Accounts;
  }
}

interface Named {
  readonly accountId: string;
}

interface Paid extends Named {
  readonly amountPicoUsd: bigint;
  readonly reference: string;
  readonly validateOnly?: boolean;
  readonly intoDebt?: boolean;
}
