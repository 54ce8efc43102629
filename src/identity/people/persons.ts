import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";

/** The most accounts of a person that are listed. */
const mostAccounts = 1000;

/** An account in which a person has a place. */
export interface PersonAccount extends Pick<Member, "accountId" | "role"> {
  readonly name: string;
}

/** The stored people. Ids are UUIDs. */
export class Persons {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Throws MEMBER_NOT_FOUND. */
  async get(id: string): Promise<Person> {
    const person = await this.#storage.orm.em.fork().findOne(Person, id);
    if (person === null) {
      throw failure(Reason.MEMBER_NOT_FOUND, "There is no such person.");
    }
    return person;
  }

  async change(id: string, changes: Partial<Pick<Person, "name" | "mails">>): Promise<Person> {
    if (Object.keys(changes).length > 0) {
      await inTransaction(this.#storage, (em) => em.nativeUpdate(Person, { id }, changes));
    }
    return this.get(id);
  }

  /** The accounts in which a person has a place, in the order of joining. */
  async accountsOf(personId: string): Promise<PersonAccount[]> {
    const em = this.#storage.orm.em.fork();
    const places = await em.find(Member, { personId }, { orderBy: { id: "asc" }, limit: mostAccounts });
    const accounts = await em.find(Account, { id: { $in: places.map(({ accountId }) => accountId) } });
    const names = new Map(accounts.map(({ id, name }) => [id, name]));
    return places.map(({ accountId, role }) => ({ accountId, role, name: names.get(accountId) ?? "" }));
  }
}
