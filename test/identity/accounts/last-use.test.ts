import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { toUseKey } from "#src/identity/accounts/keys/use-key.ts";
import type { AccountUse } from "#src/identity/accounts/last-use.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";

const newDatabase = databases();
const minute = (at: number) => new Date(Date.UTC(2026, 0, 1, 0, at));

async function addAccount(storage: Storage, uses: readonly (number | null)[], facts: object = {}): Promise<string> {
  const id = v7();
  const em = storage.orm.em.fork();
  await em.insert(Account, {
    ...{ id, name: id, nameKey: toNameKey(id), maxKeys: 9, createdAt: minute(0), requestId: null },
    ...{ paidTotal: 0n, debt: 0n, ...facts },
  });
  for (const at of uses) {
    em.create(ApiKey, {
      ...{ id: v7(), accountId: id, name: "", digest: Buffer.from(v7()), pepperVersion: 1, prefix: "tg-aaaa" },
      ...{ last4: "zzzz", createdAt: minute(0), lastUsedAt: at === null ? null : minute(at), limits: {} },
    });
  }
  await em.flush();
  return id;
}

test.each(dialects)("%s: accounts by last use are those of their newest key, page by page", async (dialect) => {
  const storage = await openStorage(await newDatabase(dialect));
  const [old, recent, same, idle] = [
    await addAccount(storage, [1, 2]),
    await addAccount(storage, [1, 9, null]),
    await addAccount(storage, [2]),
    await addAccount(storage, [null]),
  ];
  const accounts = new Accounts(storage);
  const found: AccountUse[] = [];
  for (let page: AccountUse[]; ; found.push(...page)) {
    const last = found.at(-1);
    page = await accounts.listByUse({ after: last && toUseKey(last), limit: 1 });
    if (page.length === 0) {
      break;
    }
  }
  expect(found).toEqual([
    { id: recent, lastUsedAt: minute(9) },
    { id: same, lastUsedAt: minute(2) },
    { id: old, lastUsedAt: minute(2) },
  ]);
  expect(await accounts.lastUses([old, idle])).toEqual(new Map([[old, minute(2)]]));
  expect(await accounts.lastUses([])).toEqual(new Map());
  await storage.close();
});

test.each(dialects)("%s: low are accounts that paid once and have little left", async (dialect) => {
  const storage = await openStorage(await newDatabase(dialect));
  const low = await addAccount(storage, [], { balanceTold: "low", lastPaid: 5 });
  const empty = await addAccount(storage, [], { balanceTold: "exhausted", lastPaid: 5 });
  await addAccount(storage, [], { balanceTold: "exhausted", lastPaid: null });
  await addAccount(storage, [], { balanceTold: "ample", lastPaid: 5 });
  const found = await new Accounts(storage).list({ after: undefined, limit: 9 }, { state: "low" });
  expect(found.map(({ id }) => id)).toEqual([low, empty]);
  await storage.close();
});
