import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { publish } from "#src/money/prices/price-versions.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { type Metering, openMetering, testModel, usd } from "../money/fixture.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";

// A server that ends every other transaction that writes, as it does one that another locked out.

let server: DatabaseServer;
let clock: ManualClock;
let metering: Metering;
beforeAll(async () => {
  server = await useServer();
  clock = new ManualClock(Date.now());
  metering = await openMetering({ clock, url: await server.createDatabase() });
  const tables = ["account", "lot", "lot_entry", "payment", "api_key", "price_version", "price", "dead_letter"];
  await execute(`
    create sequence first_write;
    select nextval('first_write'), nextval('first_write');
    create table ended (tx bigint primary key);
    create function lock_out() returns trigger language plpgsql as $$
    begin
      if not exists (select from ended where tx = txid_current()) then
        insert into ended values (txid_current());
        if nextval('first_write') % 2 = 1 then
          raise exception 'ended in favour of another' using errcode = case when random() < 0.5 then '40001' else '40P01' end;
        end if;
      end if;
      return null;
    end $$;
    ${tables.map((table) => `create trigger lock_out before insert or update or delete on ${table} for each statement execute function lock_out();`).join("\n")}`);
}, 60_000);
afterAll(async () => {
  await clock.until(metering.close());
  await server.stop();
}, 60_000);

const execute = (sql: string) => metering.storage.orm.em.getConnection().execute<{ value: string }[]>(sql);
const writes = async () => Number((await execute("select last_value as value from first_write"))[0]?.value);

const operations: [string, () => Promise<unknown>][] = [
  ["an account is opened", () => metering.account({ free: 5 })],
  ["money comes in", () => metering.account({ paid: usd })],
  [
    "an account is changed",
    async () => new Accounts(metering.storage).update(await metering.account(), { name: "other" }),
  ],
  [
    "a key is made, changed, used and revoked",
    async () => {
      const { storage } = metering;
      const pepper = { version: 1, secret: "pepper" };
      const keys = new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper });
      const { key } = await keys.create(await metering.account(), "");
      await keys.storeLastUsed([key.id], new Date());
      await keys.rotate(key.id, 1000);
      await keys.revoke(key.id);
    },
  ],
  [
    "prices are published",
    () =>
      publish({ storage: metering.storage, clock: metering.time, random: systemRandom }, (newest) => {
        const facts = newest.get(testModel);
        return new Map(facts === undefined ? [] : [[testModel, { ...facts, input: facts.input + 1 }]]);
      }),
  ],
  [
    "a dead letter is kept and removed",
    async () => {
      const run = { requestId: v7(), runId: v7() };
      await metering.deadLetters.put(
        {
          ...{ ...run, accountId: v7(), keyId: "", model: testModel, inputTokens: 1, outputTokens: 1 },
          ...{ cost: 1, shortfall: 0, status: "failed", settledAt: 0, lines: [] },
        },
        "a reason",
      );
      const [letter] = await metering.deadLetters.list({ after: undefined, limit: 1 });
      expect(await metering.deadLetters.remove(letter?.id ?? "")).toBe(true);
    },
  ],
];

test.each(operations)("%s although the server ends the first try", async (_, run) => {
  const before = await writes();
  await run();
  expect(await writes()).toBeGreaterThan(before + 1);
});

test("a transaction that is ended each time is given up, as unavailable", async () => {
  let runs = 0;
  const error = await inTransaction(metering.storage, async (em) => {
    runs++;
    await em.execute("do $$ begin raise exception 'no' using errcode = '40001'; end $$");
  }).catch((thrown: unknown) => thrown);
  expect(isUnreachable(error)).toBe(true);
  expect(runs).toBe(6);
});
