import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Customers } from "../customers.ts";
import type { Dependencies } from "../dependencies.ts";
import { demandProvider } from "../faults.ts";
import type { Payments } from "../payments.ts";

/** After a decline the card rests for a day, and after three in a row for good. */
const restMs = dayMs;
const mostDeclines = 3;

/** What ends a charge that took no money. */
type End = Pick<ProviderPayment, "problem"> & { readonly state: "declined" | "expired" };

/** Charges of saved cards that are under way, one an account at most. */
export class Charges {
  readonly #deps: Dependencies;
  readonly #customers: Customers;
  readonly #payments: Payments;

  constructor(deps: Dependencies, customers: Customers, payments: Payments) {
    this.#deps = deps;
    this.#customers = customers;
    this.#payments = payments;
  }

  /** Carries a charge on from where it stands. Throws what a retry may change. */
  async carryOn(charge: ProviderPayment): Promise<void> {
    const { id, accountId, amount } = charge;
    const provider = demandProvider(this.#deps.provider);
    const customer = await this.#customers.of(accountId);
    const order = { id, accountId, customer, amount };
    const made = await provider.charge.make(order, () => this.#isWanted(accountId));
    if (made === undefined) {
      await this.#withdraw(charge);
    } else if ("declined" in made) {
      await this.#decline(charge, made.declined);
    } else {
      await this.#payments.credit(await provider.charge.read(made.reference));
    }
  }

  /** Whether a card may be charged still: its account may have been frozen or closed since its crossing was taken. */
  async #isWanted(accountId: string): Promise<boolean> {
    const { storage, accounts } = this.#deps;
    const isOn = (await storage.orm.em.fork().count(AutoTopUp, { accountId, state: "on" })) > 0;
    return isOn && !(await accounts.listAccounts({ accountIds: [accountId] })).accounts[0]?.frozen;
  }

  /** Ends a charge that nobody wants any more. The balance crosses anew once it may be charged again. */
  async #withdraw(charge: ProviderPayment): Promise<void> {
    await this.#end(charge, { state: "expired", problem: null }, (em, { accountId }) =>
      em.nativeUpdate(AutoTopUp, { accountId }, { charging: null, notBefore: null }),
    );
    this.#deps.logger.info(
      { account: charge.accountId },
      "a saved card is not charged: its account is frozen or asks for none",
    );
  }

  async #decline(charge: ProviderPayment, problem: string): Promise<void> {
    const { clock, announce, logger } = this.#deps;
    await this.#end(charge, { state: "declined", problem }, async (em, { accountId, state, declines: before }) => {
      const declines = before + 1;
      const isOver = declines >= mostDeclines;
      await em.nativeUpdate(
        AutoTopUp,
        { accountId },
        {
          charging: null,
          declines,
          notBefore: new Date(clock.now() + restMs),
          ...(isOver && state === "on" ? { state: "declined" as const } : {}),
        },
      );
      const amount = formatUsd(BigInt(charge.amount));
      const data = { amount_usd: amount, reason: problem, declines, switched_off: isOver };
      await announce(em, { type: "auto_top_up.declined", accountId, data });
    });
    logger.warn({ account: charge.accountId, problem }, "a saved card was declined");
  }

  /** Ends a charge, with what follows from it, unless it has ended or its money has come meanwhile. */
  async #end(
    { id, accountId }: ProviderPayment,
    end: End,
    follow: (em: SqlEntityManager, row: AutoTopUp) => Promise<unknown>,
  ): Promise<void> {
    await inTransaction(this.#deps.storage, async (em) => {
      const row = await em.findOne(AutoTopUp, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
      const ended = await em.nativeUpdate(ProviderPayment, { id, state: "open" }, { ...end, askAt: null });
      if (ended > 0 && row !== null) {
        await follow(em, row);
      }
    });
  }
}
