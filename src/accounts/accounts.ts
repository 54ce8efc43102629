import { LockMode } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import type { PageStart } from "../../lib/rpc/pages.ts";
import type { Announce } from "../events/announcer.ts";
import type { BalanceJudge } from "../metering/thresholds/interface.ts";
import { Account } from "../storage/entities/account.ts";
import type { Storage } from "../storage/orm.ts";
import { inTransaction } from "../storage/transaction.ts";

/** The accounts as they are stored, without their money. Ids are UUIDs. */
export class Accounts {
  readonly #storage: Storage;
  readonly #announce: Announce | undefined;
  readonly #balances: Pick<BalanceJudge, "judge"> | undefined;

  /** Absent: nobody is told of accounts that are frozen; of balances that are below a threshold once it is set. */
  constructor(storage: Storage, announce?: Announce, balances?: Pick<BalanceJudge, "judge">) {
    this.#storage = storage;
    this.#announce = announce;
    this.#balances = balances;
  }

  /** Throws ACCOUNT_NOT_FOUND. */
  async get(id: string): Promise<Account> {
    const account = await this.#storage.orm.em.fork().findOne(Account, id);
    if (!account) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
    }
    return account;
  }

  /** Accounts after the one of an id, oldest first: ids sort by age. */
  async list({ after, limit }: PageStart): Promise<Account[]> {
    const where = after === undefined ? {} : { id: { $gt: after } };
    return this.#storage.orm.em.fork().find(Account, where, { orderBy: { id: "asc" }, limit });
  }

  /** The account that a request made. Undefined: it has not made one. */
  async madeBy(requestId: string): Promise<Account | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Account, { requestId })) ?? undefined;
  }

  /** Undefined: there is none. */
  async find(id: string): Promise<Account | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Account, id)) ?? undefined;
  }

  /** Throws ACCOUNT_NOT_FOUND. */
  async update(
    id: string,
    facts: Partial<Pick<Account, "name" | "maxKeys" | "maxInFlight" | "lowBalance">>,
  ): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      await em.nativeUpdate(Account, id, facts);
      if (facts.lowBalance !== undefined) {
        const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
        await (account && this.#balances?.judge(em, account));
      }
    });
    return this.get(id);
  }

  /** Freezes an account; one that is frozen gets the new reason. Throws ACCOUNT_NOT_FOUND. */
  async freeze(id: string, reason: string, now: Date): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      const frozen = await em.nativeUpdate(Account, { id, frozenAt: null }, { frozenAt: now });
      if (frozen > 0) {
        await this.#announce?.(em, { type: "account.frozen", accountId: id, data: { reason } });
      }
      await em.nativeUpdate(Account, id, { frozenReason: reason });
    });
    return this.get(id);
  }

  /** Throws ACCOUNT_NOT_FOUND. */
  async unfreeze(id: string): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      const frozen = { id, frozenAt: { $ne: null } };
      if ((await em.nativeUpdate(Account, frozen, { frozenAt: null, frozenReason: null })) > 0) {
        await this.#announce?.(em, { type: "account.unfrozen", accountId: id, data: {} });
      }
    });
    return this.get(id);
  }
}
