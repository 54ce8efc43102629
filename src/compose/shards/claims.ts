import type { Clock } from "../../../lib/time/clock.ts";
import { referenceConflict } from "../../metering/books/payments/payments.ts";
import { Claim, type ClaimKind } from "../../storage/entities/claim.ts";
import { Payment } from "../../storage/entities/payment.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";

/** How long a payment waits for a further database that does not answer, in milliseconds. */
const momentMs = 1000;

/** Names that stand for one account in all databases, kept in the first one. */
export class Claims {
  readonly #storage: Storage;
  readonly #others: () => readonly Storage[];
  readonly #clock: Pick<Clock, "after">;

  /** `others`: the further databases that are there. */
  constructor(storage: Storage, others: () => readonly Storage[], clock: Pick<Clock, "after">) {
    this.#storage = storage;
    this.#others = others;
    this.#clock = clock;
  }

  /** The account that a name stands for. Undefined: it was never claimed. */
  async find(kind: ClaimKind, name: string): Promise<string | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Claim, { kind, name }))?.accountId;
  }

  /** Claims a name for an account. Returns the account that it stands for: the one that claimed it first. */
  async take(kind: ClaimKind, name: string, accountId: string): Promise<string> {
    return inTransaction(this.#storage, async (em) => {
      await em.upsert(Claim, { kind, name, accountId }, { onConflictAction: "ignore" });
      return (await em.findOneOrFail(Claim, { kind, name }, { refresh: true })).accountId;
    });
  }

  /**
   * Claims the reference of a payment before it is entered in the account's own database. Throws
   * PAYMENT_REFERENCE_CONFLICT when it belongs to another account, of whichever database.
   */
  async takeReference(reference: string, accountId: string): Promise<void> {
    const entered = await this.#storage.orm.em.fork().findOne(Payment, { reference });
    const claimed = entered?.accountId ?? (await this.find("payment", reference));
    const owner = claimed ?? (await this.take("payment", reference, (await this.#findEntered(reference)) ?? accountId));
    if (owner !== accountId) {
      throw referenceConflict(`The reference ${reference}`);
    }
  }

  /**
   * The account that a payment was entered for in another database: the first database may have been restored to a
   * state before the claim. Databases that are away are not waited for.
   */
  async #findEntered(reference: string): Promise<string | undefined> {
    const asked = this.#others().map((storage) =>
      storage.orm.em
        .fork()
        .findOne(Payment, { reference })
        .catch(() => null),
    );
    let stopWaiting = () => {};
    const moment = new Promise<null>((resolve) => {
      stopWaiting = this.#clock.after(momentMs, () => resolve(null));
    });
    const found = await Promise.all(asked.map((one) => Promise.race([one, moment])));
    stopWaiting();
    return found.find((payment) => payment !== null)?.accountId;
  }
}
