import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Claim, type ClaimKind } from "../../storage/entities/claim.ts";
import { Payment } from "../../storage/entities/payment.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";

/** Names that stand for one account in all databases, told apart in the first. */
export class Claims {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The account that a name stands for. Undefined: it was never claimed. */
  async find(kind: ClaimKind, name: string): Promise<string | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Claim, { kind, name }))?.accountId;
  }

  /** Claims a name for an account. Returns the account that it stands for, which is the one that came first. */
  async take(kind: ClaimKind, name: string, accountId: string): Promise<string> {
    return inTransaction(this.#storage, async (em) => {
      await em.upsert(Claim, { kind, name, accountId }, { onConflictAction: "ignore" });
      return (await em.findOneOrFail(Claim, { kind, name }, { refresh: true })).accountId;
    });
  }

  /**
   * Claims the reference of a payment, before it is entered in the account's own database. Throws
   * PAYMENT_REFERENCE_CONFLICT when it is another account's, of whichever database.
   */
  async takeReference(reference: string, accountId: string): Promise<void> {
    const entered = await this.#storage.orm.em.fork().findOne(Payment, { reference });
    const owner = entered?.accountId ?? (await this.take("payment", reference, accountId));
    if (owner !== accountId) {
      throw failure(
        Reason.PAYMENT_REFERENCE_CONFLICT,
        `The reference ${reference} was already used for another account, kind or amount.`,
        { parameter: "reference" },
      );
    }
  }
}
