import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { formatUsd } from "#lib/money/money.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import type { Dependencies } from "../dependencies.ts";
import { askFor } from "../faults.ts";
import type { Refunds } from "./refunds.ts";
import type { Withdrawals } from "./withdrawals.ts";

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
   * Returns what has gone back now, in pico-USD. Throws PAYMENT_PROVIDER_FAILED where a part did not.
   */
  async all(accountId: string, requestId: string): Promise<bigint> {
    const em = this.#deps.storage.orm.em.fork();
    const begun = await em.find(Withdrawal, { accountId, kind: "refund", state: { $in: ["asked", "withdrawn"] } });
    const carriedOn: Withdrawal[] = [];
    for (const { id } of begun) {
      carriedOn.push(await askFor(() => this.#withdrawals.carryOn(id)));
    }
    // Each attempt is a request of its own: an earlier one may have left money that running requests held.
    const attempt = `${requestId}.${this.#deps.random.uuid()}`;
    return total(carriedOn) + total(await this.#refundRest(accountId, attempt));
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

/** What has gone back. Throws PAYMENT_PROVIDER_FAILED when a part is in the account again. */
function total(rows: readonly Withdrawal[]): bigint {
  const sumOf = (state: Withdrawal["state"]) =>
    rows.filter((row) => row.state === state).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const [gone, returned] = [sumOf("done"), sumOf("returned")];
  if (returned > 0n) {
    const before = gone === 0n ? "" : `${formatUsd(gone)} USD go back. `;
    const problem = rows.find(({ state }) => state === "returned")?.problem ?? "";
    const left = `${formatUsd(returned)} USD could not be paid back and are in the account again: ${problem}`;
    throw failure(Reason.PAYMENT_PROVIDER_FAILED, `${before}${left}`);
  }
  return gone;
}
