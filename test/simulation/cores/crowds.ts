import type { World } from "../world.ts";
import { modelNames } from "./machine.ts";

// Bulk actions of operators, each in one database transaction: thousands of gifts, and hundreds of price versions.

/** The amount of each gift, in pico-USD: worth some tokens. */
const giftAmount = 100_000_000;

/** ?1: the beginning of the ids; ?2: their number. The ids are UUIDs. */
const numbered = `
  with recursive one (n) as (select 1 union all select n + 1 from one where n < ?2),
  row (n, payment, lot, entry) as (select n, printf('%s-aaaa-8000-%012d', ?1, n), printf('%s-bbbb-8000-%012d', ?1, n),
    printf('%s-cccc-8000-%012d', ?1, n) from one)`;

/** Gives an account `count` small lots, which pay by all existing price versions in turn. */
export function giveManyLots({ server, dice, trueTime }: World, accountId: string, count: number): void {
  const { tables } = server;
  const newest = tables.get<{ id: number }>("select max(id) as id from price_version")?.id;
  if (newest == null || tables.get("select 1 from account where id = ?", accountId) === undefined) {
    return;
  }
  const [prefix, now] = [dice.uuid().slice(0, 13), Math.floor(trueTime)];
  server.begin();
  tables.run(
    `${numbered} insert into payment (id, account_id, kind, amount, reference, lot_id, at)
     select payment, ?3, 'free', ?4, payment, lot, ?5 from row`,
    ...[prefix, count, accountId, giftAmount, now],
  );
  tables.run(
    `${numbered} insert into lot (id, account_id, kind, priority, granted, spent, leased, refunded, expired,
       price_version_id, created_at, expires_at, payment_id)
     select lot, ?3, 'free', 10, ?4, 0, 0, 0, 0, 1 + n % ?6, ?5, null, payment from row`,
    ...[prefix, count, accountId, giftAmount, now, newest],
  );
  tables.run(
    `${numbered} insert into lot_entry (id, lot_id, kind, amount, payment_id, at)
     select entry, lot, 'grant', ?3, payment, ?4 from row`,
    ...[prefix, count, giftAmount, now],
  );
  server.commit();
}

/** Publishes `count` price versions, one after the other. Each moves all prices slightly. */
export function moveManyPrices({ server, dice, trueTime, operators }: World, count: number): void {
  const { tables } = server;
  const newest = tables.get<{ id: number }>("select max(id) as id from price_version")?.id;
  if (newest == null) {
    return;
  }
  server.begin();
  for (let n = 1; n <= count; n++) {
    const id = newest + n;
    const published = "insert into price_version (id, published_at, mark) values (?, ?, ?)";
    tables.run(published, id, Math.floor(trueTime), dice.uuid());
    for (const model of modelNames) {
      const rates = { input: dice.between(100_000, 3_000_000), output: dice.between(100_000, 3_000_000) };
      operators.mayCost(model, rates);
      tables.run(
        `insert into price (version_id, model, input, output, base_input, base_output, configured_input,
           configured_output, pinned, reason, utilisation)
         select ?1, model, ?3, ?4, ?3, ?4, configured_input, configured_output, pinned, 'set', null
         from price where model = ?2 order by version_id desc limit 1`,
        ...[id, model, rates.input, rates.output],
      );
    }
  }
  server.commit();
}
