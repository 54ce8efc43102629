import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { SimulatedServer } from "../database/server.ts";
import { cameBefore, justMs } from "./came-before.ts";
import { MoneyAtHome } from "./money-at-home.ts";

let server: SimulatedServer;
let now = 0;
const account = v7();
const [one, other] = [v7(), v7()];

beforeAll(async () => {
  server = await SimulatedServer.open();
  server.tables.run(
    "insert into account (id, name, name_key, max_keys, created_at, paid_total, debt) values (?, 'one', x'6f', 1, 0, 0, 0)",
    account,
  );
  for (const lot of [one, other]) {
    makeLot(lot);
  }
});

function makeLot(id: string): void {
  server.tables.run(
    `insert into lot (id, account_id, kind, priority, granted, spent, leased, refunded, expired, price_version_id, created_at, payment_id)
     values (?, ?, 'paid', 0, 100, 0, 90, 0, 0, 1, 0, ?)`,
    ...[id, account, v7()],
  );
}

afterAll(() => server.close());

test("money counts as at home once it has been there for the whole time, however often it went and came", () => {
  const home = new MoneyAtHome(server, () => now);
  const leased = (amount: number, lot = one) =>
    server.tables.run("update lot set leased = ? where id = ?", amount, lot);
  const lots = { sql: "select id from lot where id = ?1", values: [one] };
  now = 100;
  leased(50); // 50 are unleased
  expect(home.riseSince(300, lots)).toBe(40);
  now = 300;
  leased(20); // 80 are unleased
  leased(40); // 60 are unleased
  leased(20); // 80 are unleased
  expect(home.riseSince(300, lots)).toBe(70); // at first 10 were
  leased(100, other);
  expect(home.riseSince(300, lots)).toBe(70); // another lot's
  now = 450;
  expect(home.riseSince(300, lots)).toBe(30); // never fewer than 50 were
  now = 700;
  expect(home.riseSince(300, lots)).toBe(0);
  home.end();
});

test("money has just come in by the world's time, whatever a wrong clock says of it", () => {
  now = 10_000;
  const home = new MoneyAtHome(server, () => now);
  const before = () =>
    server.tables.all<{ id: string }>(`select id from lot where ${cameBefore("?1")} order by rowid`, 1);
  const late = v7();
  makeLot(late);
  server.tables.run("update lot set granted = 200 where id = ?", other);
  expect(before()).toEqual([{ id: one }]);
  now += justMs + 1;
  expect(before().map(({ id }) => id)).toEqual(expect.arrayContaining([one, other, late]));
  home.end();
});
