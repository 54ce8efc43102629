import { afterEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { findMailRecipients } from "#src/identity/people/mail-recipients.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { Member, type MemberRole } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";

const newDatabase = databases();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) {
    await storage.close();
  }
});

const createdAt = new Date();

describe.each(dialects)("%s", (dialect) => {
  async function start(email: string | null) {
    const storage = await openStorage(await newDatabase(dialect));
    opened.push(storage);
    const em = () => storage.orm.em.fork();
    const accountId = systemRandom.uuid();
    await em().insert(Account, {
      ...{ id: accountId, name: "Ours", nameKey: toNameKey("Ours"), email, maxKeys: 1, createdAt, requestId: null },
      ...{ paidTotal: 0n, debt: 0n, frozenAt: null, frozenReason: null, maxInFlight: null, serviceClass: null },
      ...{ lowBalance: null, lastPaid: null, balanceTold: "ample" },
    });
    const join = async (role: MemberRole, who: Partial<Person>) => {
      const person = { id: systemRandom.uuid(), name: "", emailVerified: true, email: null, createdAt, ...who };
      await em().insert(Person, person);
      await em().insert(Member, { id: systemRandom.uuid(), accountId, personId: person.id, role, createdAt });
      return person.id;
    };
    const told = async (event: "balance.low" | "key.limit") =>
      (await findMailRecipients(em(), accountId, event))?.addresses.toSorted();
    return { em, accountId, join, told };
  }

  test("owners are told unless they chose not to be, others once they chose to be, and nobody by a guessed address", async () => {
    const { em, accountId, join, told } = await start(null);
    await join("owner", { email: "owner@example.com" });
    await join("owner", { email: "picky@example.com", mails: ["balance.low"] });
    await join("owner", { email: "guessed@example.com", emailVerified: false });
    await join("owner", {});
    await join("viewer", { email: "viewer@example.com" });
    await join("developer", { email: "keys@example.com", mails: ["key.limit"] });
    const leaves = await join("owner", { email: "gone@example.com", mails: ["balance.low"] });
    await em().nativeDelete(Member, { personId: leaves });
    expect(await told("balance.low")).toEqual(["owner@example.com", "picky@example.com"]);
    expect(await told("key.limit")).toEqual(["keys@example.com", "owner@example.com"]);
    expect(await findMailRecipients(em(), accountId, "key.limit")).toMatchObject({ name: "Ours" });
    expect(await findMailRecipients(em(), systemRandom.uuid(), "key.limit")).toBeUndefined();
  });

  test("who chose decides for the account's address, too, where that is theirs", async () => {
    const { join, told } = await start("Ada@example.com");
    await join("viewer", { email: "ada@example.com" });
    expect(await told("balance.low")).toEqual(["ada@example.com"]);
    await join("owner", { email: "ada@example.com", mails: ["key.limit"] });
    expect(await told("balance.low")).toEqual([]);
    expect(await told("key.limit")).toEqual(["ada@example.com"]);
  });

  test("nobody else turns off the account's address", async () => {
    const { join, told } = await start("ada@example.com");
    await join("owner", { email: "ada@example.com", emailVerified: false, mails: [] });
    await join("owner", { email: "eve@example.com", mails: [] });
    expect(await told("balance.low")).toEqual(["ada@example.com"]);
  });
});
