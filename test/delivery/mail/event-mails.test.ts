import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../money/databases.ts";
import { lowBalance, openMail } from "./fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("each event that customers care for is one mail an address, once however many cores look", async () => {
    const { announce, spread, core, server, addresses } = await openMail(await newDatabase(dialect));
    addresses.push("bob@example.com", "not an address");
    const accountId = v7();
    const usd = { balance_usd: "0.5", threshold_usd: "1", amount_usd: "25" };
    const budget = { key_id: "k", name: "ci", limit_usd: "5", spent_usd: "4", per: "day", resets_at: null };
    await announce({ type: "balance.low", accountId, data: usd });
    await announce({ type: "balance.exhausted", accountId, data: usd });
    await announce({ type: "account.topped_up", accountId, data: { ...usd, reference: "pi_1" } });
    await announce({ type: "account.topped_up", accountId, data: { ...usd, reference: "undo:r", undoes: "r" } });
    await announce({ type: "key.limit", accountId, data: { ...budget, percent: 80 } });
    const nameless = { ...budget, name: "", prefix: "tg-AbCd", last4: "WxYz" };
    await announce({ type: "key.limit", accountId, data: { ...nameless, percent: 100 } });
    await announce({ type: "account.frozen", accountId, data: { reason: "a dispute" } });
    const declined = { amount_usd: "20", reason: "no funds", declines: 3, switched_off: true };
    await announce({ type: "auto_top_up.declined", accountId, data: declined });
    await announce({ type: "key.created", accountId, data: {} });
    await announce({ type: "books.proved", data: {} });
    await Promise.all([spread(), spread()]);
    await spread();
    const sender = core();
    await sender.turn();
    await sender.turn();
    const subjects = server.mails.map(({ to, source }) => `${to} ${/^subject: (.*)$/im.exec(source)?.[1]?.trim()}`);
    expect(subjects.filter((one) => one.startsWith("ada")).sort()).toEqual([
      expect.stringMatching(/tg-AbCd.*WxYz/), // a key without a name
      "ada@example.com Ada is frozen",
      "ada@example.com Ada: 25 USD came in",
      "ada@example.com Ada: the automatic payment was declined",
      "ada@example.com Ada: the balance is low",
      "ada@example.com Ada: the balance is used up",
      "ada@example.com Ada: the key ci has spent 80 % of its budget",
    ]);
    expect(subjects).toHaveLength(14);
  }, 60_000);

  test("what is undone is told to nobody", async () => {
    const { announce, storage, spread, stored } = await openMail(await newDatabase(dialect));
    await announce(lowBalance());
    await expect(
      inTransaction(storage, async (em) => {
        await em.execute("update event set spread = true");
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
    expect(await stored()).toEqual([]);
    await spread();
    expect(await stored()).toHaveLength(1);
  });
});
