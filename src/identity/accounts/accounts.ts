import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { validate as isUuid, NIL } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import { Account, closedReason, toNameKey } from "#src/storage/entities/account.ts";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type AccountUse, accountsByUse, lastUses } from "./last-use.ts";

/** This byte sorts after every byte of UTF-8. */
const pastAllText = Buffer.from([0xff]);

/** The key after which a list by name continues behind an account. */
export function toListKey({ id, name }: Pick<Account, "id" | "name">): string {
  return `${id} ${toNameKey(name).toString("base64")}`;
}

/** Whether a text is such a key. */
export function isListKey(text: string): boolean {
  const [id = "", key, ...rest] = text.split(" ");
  return isUuid(id) && key !== undefined && rest.length === 0;
}

function readListKey(text: string): [key: Buffer, id: string] {
  const [id = "", key = ""] = text.split(" ");
  return [Buffer.from(key, "base64"), id];
}

/** The states that accounts are listed by; each has an index. */
const states = {
  frozen: { frozenAt: { $ne: null } },
  inDebt: { debt: { $gt: 0n } },
  low: { balanceTold: { $ne: "ample" }, lastPaid: { $ne: null } },
} as const;

/** Which accounts are listed: those with these ids, if there are any, and in this state. Undefined: in any. */
export interface AccountFilter {
  readonly ids?: readonly string[];
  readonly state?: keyof typeof states | undefined;
}

/** What may be changed of an account. */
export type AccountChanges = Partial<
  Pick<Account, "name" | "email" | "maxKeys" | "maxInFlight" | "serviceClass" | "lowBalance">
>;

/** Judges balances where an account's threshold changes, in the transaction that changes it and has locked the account. */
export interface ThresholdWatch {
  judge(em: SqlEntityManager, account: Account): Promise<void>;
}

/** The stored accounts, without their money. Ids are UUIDs. */
export class Accounts {
  readonly #storage: Storage;
  readonly #announce: Announce | undefined;
  readonly #balances: ThresholdWatch | undefined;

  /**
   * `announce` absent: frozen accounts are not announced. `balances` absent: balances are not judged when a threshold
   * is set.
   */
  constructor(storage: Storage, announce?: Announce, balances?: ThresholdWatch) {
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

  /** Accounts after the given id, oldest first: ids sort by age. */
  async list({ after, limit }: PageStart, { ids = [], state }: AccountFilter = {}): Promise<Account[]> {
    const id = { ...(after === undefined ? {} : { $gt: after }), ...(ids.length === 0 ? {} : { $in: [...ids] }) };
    const where = { ...(Object.keys(id).length > 0 && { id }), ...(state && states[state]) };
    return this.#storage.orm.em.fork().find(Account, where, { orderBy: { id: "asc" }, limit });
  }

  /**
   * Accounts whose names begin with a text, ordered by name, after a key made by `toListKey`. A page is read from the
   * index alone, however many accounts there are.
   */
  async listByName(start: string, { after, limit }: PageStart): Promise<Account[]> {
    const em = this.#storage.orm.em.fork();
    const first = toNameKey(start);
    const [key, id] = after === undefined ? [first, NIL] : readListKey(after);
    const rows = await em.execute<{ id: string }[]>(
      `select id from account where (name_key, id) > (?, ?) and name_key >= ? and name_key < ?
       order by name_key, id limit ?`,
      [key, id, first, Buffer.concat([first, pastAllText]), limit],
    );
    const found = await em.find(Account, { id: { $in: rows.map((row) => row.id) } });
    const byId = new Map(found.map((account) => [account.id, account]));
    return rows.flatMap((row) => byId.get(row.id) ?? []);
  }

  /** Accounts whose keys were used, those used last first, after a key made by `toUseKey`. */
  async listByUse(start: PageStart): Promise<AccountUse[]> {
    return accountsByUse(this.#storage, start);
  }

  /** When some accounts were last used. Those that never were are not among them. */
  async lastUses(ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return lastUses(this.#storage, ids);
  }

  /** The account that a request made. Undefined: it has made none. */
  async madeBy(requestId: string): Promise<Account | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Account, { requestId })) ?? undefined;
  }

  /** Undefined: there is no such account. */
  async find(id: string): Promise<Account | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Account, id)) ?? undefined;
  }

  /** Throws ACCOUNT_NOT_FOUND. */
  async update(id: string, facts: AccountChanges): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      const key = facts.name === undefined ? {} : { nameKey: toNameKey(facts.name) };
      await em.nativeUpdate(Account, id, { ...facts, ...key });
      if (facts.lowBalance !== undefined) {
        const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
        await (account && this.#balances?.judge(em, account));
      }
    });
    return this.get(id);
  }

  /** Freezes an account. A frozen account gets the new reason. Throws ACCOUNT_NOT_FOUND. */
  async freeze(id: string, reason: string, now: Date): Promise<Account> {
    await inTransaction(this.#storage, (em) => this.#freeze(em, id, reason, now));
    return this.get(id);
  }

  /** Freezes an account for good, and charges its card no more. Its people are removed apart. Throws ACCOUNT_NOT_FOUND. */
  async close(id: string, now: Date): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      await em.nativeUpdate(AutoTopUp, { accountId: id }, { state: "off" });
      await this.#freeze(em, id, closedReason, now);
    });
    return this.get(id);
  }

  async #freeze(em: SqlEntityManager, id: string, reason: string, now: Date): Promise<void> {
    const frozen = await em.nativeUpdate(Account, { id, frozenAt: null }, { frozenAt: now });
    if (frozen > 0) {
      await this.#announce?.(em, { type: "account.frozen", accountId: id, data: { reason } });
    }
    // A closed account stays one whatever it is frozen for since: nobody has it any more.
    const open = [{ frozenReason: null }, { frozenReason: { $ne: closedReason } }];
    await em.nativeUpdate(Account, { id, $or: open }, { frozenReason: reason });
  }

  /** Throws ACCOUNT_NOT_FOUND, and INVALID_ARGUMENT for an account that is closed and has nobody. */
  async unfreeze(id: string): Promise<Account> {
    await inTransaction(this.#storage, async (em) => {
      const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (account?.frozenReason === closedReason && (await em.count(Member, { accountId: id })) === 0) {
        throw failure(Reason.INVALID_ARGUMENT, "The account is closed, and nobody has it any more: it stays frozen.", {
          parameter: "account_id",
        });
      }
      const frozen = { id, frozenAt: { $ne: null } };
      if ((await em.nativeUpdate(Account, frozen, { frozenAt: null, frozenReason: null })) > 0) {
        await this.#announce?.(em, { type: "account.unfrozen", accountId: id, data: {} });
      }
    });
    return this.get(id);
  }
}
