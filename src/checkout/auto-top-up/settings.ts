import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { demandCents } from "../cents.ts";
import type { Dependencies } from "../dependencies.ts";
import { demandProvider } from "../faults.ts";
import { answeredMs } from "../payments.ts";

/** When the saved card is to be charged, in pico-USD. */
export interface Wish {
  readonly below: number;
  /** 0: never. */
  readonly amount: number;
  readonly monthly: bigint;
}

/** When the saved card is charged, and what it was charged this month. */
export interface Setting extends AutoTopUp {
  readonly charged: bigint;
  /** Why it was declined last. Undefined: it was not, since it was set or charged. */
  readonly problem: string | undefined;
}

/** When saved cards are charged by themselves. */
export class AutoTopUps {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Undefined: it was never set. */
  async get(accountId: string): Promise<Setting | undefined> {
    const em = this.#deps.storage.orm.em.fork();
    const row = await em.findOne(AutoTopUp, { accountId });
    if (row === null) {
      return undefined;
    }
    const charged = await chargedThisMonth(em, accountId, this.#deps.clock.now());
    const problem = row.declines === 0 ? undefined : await lastProblem(em, accountId);
    return { ...row, charged, problem };
  }

  /** Throws ACCOUNT_NOT_FOUND, PAYMENT_…, INVALID_ARGUMENT. */
  async set(accountId: string, { below, amount, monthly }: Wish): Promise<void> {
    demandProvider(this.#deps.provider);
    await (amount === 0 ? this.#deps.accounts.getAccount({ accountId }) : this.#demand(accountId, amount, monthly));
    await inTransaction(this.#deps.storage, async (em) => {
      const row = await em.findOne(AutoTopUp, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      const wish = amount === 0 ? { state: "off" as const } : { state: "on" as const, below, amount, monthly };
      const anew = { ...wish, declines: 0, notBefore: row?.charging ? this.#restOf(row, below) : null };
      if (row !== null) {
        await em.nativeUpdate(AutoTopUp, { accountId }, anew);
      } else if (amount > 0) {
        await em.insert(AutoTopUp, { accountId, below, amount, monthly, ...anew, crossing: 0, charging: null });
      }
    });
  }

  /** A charge under way answers its crossing by a new bound, too: else a second one followed it at once. */
  #restOf({ below: before, notBefore }: AutoTopUp, below: number): Date | null {
    return notBefore ?? (below > before ? new Date(this.#deps.clock.now() + answeredMs) : null);
  }

  async #demand(accountId: string, amount: number, monthly: bigint): Promise<void> {
    const wish = { accountId, amountPicoUsd: BigInt(amount), reference: "auto top-up", validateOnly: true };
    await this.#deps.accounts.topUp(wish);
    demandCents(amount);
    if (monthly < BigInt(amount)) {
      throw failure(Reason.INVALID_ARGUMENT, "The bound of a month must be at least the amount.", {
        parameter: "monthly_pico_usd",
      });
    }
  }
}

async function lastProblem(em: SqlEntityManager, accountId: string): Promise<string | undefined> {
  const declined = { accountId, origin: "auto" as const, state: "declined" as const };
  return (await em.findOne(ProviderPayment, declined, { orderBy: { createdAt: "desc" } }))?.problem ?? undefined;
}

/** What the saved card was charged, or is being charged, since the month began in UTC. */
export async function chargedThisMonth(em: SqlEntityManager, accountId: string, now: number): Promise<bigint> {
  const month = startOfMonth(now);
  const state = { $in: ["open", "paid", "credited"] as const };
  const rows = await em.find(ProviderPayment, { accountId, origin: "auto", state, createdAt: { $gte: month } });
  return rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/** When the month began in UTC, or one some months later. */
export function startOfMonth(now: number, later = 0): Date {
  const at = new Date(now);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later, 1));
}
