import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { wholeCents } from "#lib/money/cents.ts";
import { formatUsd } from "#lib/money/money.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import type { Dependencies } from "../dependencies.ts";
import { askFor } from "../faults.ts";
import type { Refunds } from "./refunds.ts";
import { takenOf, type Withdrawals } from "./withdrawals.ts";

/** What an account got back through the provider. */
export interface GivenBack {
  /** By the request, whenever it was sent, in pico-USD. */
  readonly gone: bigint;
  /** What could still go back of the account's payments through the provider, in whole cents, as pico-USD. */
  readonly left: bigint;
}

/** Pays back all that an account paid through the provider and did not spend. */
export class GiveBack {
  readonly #deps: Pick<Dependencies, "storage" | "random">;
  readonly #refunds: Refunds;
  readonly #withdrawals: Withdrawals;

  constructor(deps: Pick<Dependencies, "storage" | "random">, refunds: Refunds, withdrawals: Withdrawals) {
    this.#deps = deps;
    this.#refunds = refunds;
    this.#withdrawals = withdrawals;
  }

  /**
   * Goes on with what was begun before, and then pays back what is left: nothing for an account without such money.
   * Throws PAYMENT_PROVIDER_FAILED where a part did not go back.
   */
  async all(accountId: string, requestId: string): Promise<GivenBack> {
    const em = this.#deps.storage.orm.em.fork();
    const begun = await em.find(Withdrawal, { accountId, kind: "refund", state: { $in: ["asked", "withdrawn"] } });
    const carriedOn: Withdrawal[] = [];
    for (const { id } of begun) {
      carriedOn.push(await askFor(() => this.#withdrawals.carryOn(id)));
    }
    demandGone(carriedOn);
    // Each attempt is a request of its own: an earlier one may have left money that running requests held, or that was paid
    // while the provider was asked.
    for (let rest = 1; rest > 0; ) {
      const refunds = await this.#refundRest(accountId, `${requestId}.${this.#deps.random.uuid()}`);
      demandGone(refunds);
      rest = refunds.length;
    }
    const gone = await em.fork().find(Withdrawal, { accountId, kind: "refund", state: "done" });
    const isOfRequest = ({ id, cause }: Withdrawal) =>
      cause?.startsWith(`${requestId}.`) || carriedOn.some((one) => one.id === id);
    return { gone: sumOf(gone.filter(isOfRequest)), left: await this.#left(accountId) };
  }

  async #left(accountId: string): Promise<bigint> {
    const em = this.#deps.storage.orm.em.fork();
    const withdrawn = Map.groupBy(await em.find(Withdrawal, { accountId }), ({ paymentId }) => paymentId);
    const payments = await em.find(ProviderPayment, { accountId, state: "credited" });
    return sumOf(
      payments.map(({ id, amount }) => ({ amount: wholeCents(amount - takenOf(withdrawn.get(id) ?? []).amount) })),
    );
  }

  async #refundRest(accountId: string, requestId: string): Promise<readonly Withdrawal[]> {
    try {
      return await this.#refunds.refund({ accountId, reference: "", amount: 0, requestId });
    } catch (error) {
      const reason = readDetail(error)?.reason;
      if (reason !== Reason.PAYMENT_NOT_FOUND && reason !== Reason.REFUND_EXCEEDS_BALANCE) {
        throw error;
      }
      return [];
    }
  }
}

const sumOf = (rows: readonly Pick<Withdrawal, "amount">[]) =>
  rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** Throws PAYMENT_PROVIDER_FAILED when a part is in the account again. */
function demandGone(rows: readonly Withdrawal[]): void {
  const returned = rows.filter(({ state }) => state === "returned");
  const [first] = returned;
  if (first !== undefined) {
    const gone = sumOf(rows.filter(({ state }) => state === "done"));
    const before = gone === 0n ? "" : `${formatUsd(gone)} USD go back. `;
    const left = `${formatUsd(sumOf(returned))} USD could not be paid back and are in the account again`;
    throw failure(Reason.PAYMENT_PROVIDER_FAILED, `${before}${left}: ${first.problem}`);
  }
}
