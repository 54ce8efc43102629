import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { readCosts } from "#src/money/books/receipts/costs.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { databases, dialects } from "../../databases.ts";
import { never, openMetering, request, usd } from "../../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("requests cost what was charged over all of their runs, and others' are left out", async () => {
    const metering = await openMetering({ url: await newDatabase(dialect) });
    const { ledger, account, storage } = metering;
    try {
      const [ada, bob] = [await account({ paid: usd }), await account({ paid: usd })];
      const charge = async (accountId: string, inputTokens: number) => {
        const asked = request(accountId, { inputTokens, outputTokens: 1 });
        const hold = await ledger.hold(asked, never);
        await hold.settle({ inputTokens, outputTokens: 1 }, "completed");
        return asked.requestId;
      };
      const [first, second, other] = [await charge(ada, 1), await charge(ada, 2), await charge(bob, 3)];
      const em = storage.orm.em.fork();
      const [run] = await em.find(Usage, { requestId: other });
      await em.insert(Usage, { ...(run as Usage), runId: v7(), cost: 1 });
      const ids = [second, "unknown", first, other, second, "\ud800"];
      expect(await readCosts(storage, ids, ada)).toEqual([
        { requestId: second, cost: 650_000n },
        { requestId: first, cost: 450_000n },
      ]);
      const all = await readCosts(storage, ids, undefined);
      expect(all.find(({ requestId }) => requestId === other)?.cost).toBe(850_001n);
      expect(await readCosts(storage, ids, "nobody")).toEqual([]);
    } finally {
      await metering.close();
    }
  });
});
