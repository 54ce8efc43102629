import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Accounts, toListKey } from "#src/identity/accounts/accounts.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { readPlans, readsWholeTable } from "../../support/plans.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("accounts are found by how their names begin, in one order everywhere, by the index alone", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const names = ["b", "Bo", "bö", "B-1", "b_1", "a", "c", "", "Bo", "ｂｏ", "b🙂"];
    await storage.orm.em.fork().insertMany(
      Account,
      names.map((name) => ({
        ...{ id: v7(), name, nameKey: toNameKey(name), maxKeys: 1, createdAt: new Date(), requestId: null },
        ...{ paidTotal: 0n, debt: 0n },
      })),
    );
    const accounts = new Accounts(storage);
    const found: Account[] = [];
    for (let page: Account[]; ; found.push(...page)) {
      const last = found.at(-1);
      page = await accounts.listByName("b", { after: last && toListKey(last), limit: 2 });
      if (page.length === 0) {
        break;
      }
    }
    expect(found.map(({ name }) => name)).toEqual(["b", "B-1", "b_1", "Bo", "Bo", "ｂｏ", "bö", "b🙂"]);
    const [first] = found;
    const page = () => accounts.listByName("b", { after: first && toListKey(first), limit: 3 });
    const [ids] = await readPlans(storage, page);
    expect(ids?.steps).toContain("account_name_index");
    expect(ids && readsWholeTable(ids)).toBe(false);
    expect(ids?.steps).not.toMatch(/sort|TEMP B-TREE/i);
    await storage.close();
  });
});
