import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { configSchema } from "#src/config/schema.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { allAccounts, hourOf, sumNames, sumsOfReceipts, sumsOfSums } from "#src/money/store/rollups.ts";
import { makeDays } from "#src/storage/postgresql/days.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { createAccounts } from "../ledger/accounts.ts";
import { fillSpans } from "../usage/spans.ts";

const testModel = "model";
export const today = () => Math.floor(Date.now() / dayMs);

/** Ids tell when a lot or a slice was made, before all that it paid: the proof knows by them what it has to read. */
const longAgo = { ...systemRandom, uuid: () => v7({ msecs: Date.now() - 500 * dayMs }) };

/** Days of receipts, each evenly over its time until now. */
export interface Days {
  readonly first: number;
  readonly count: number;
  readonly receipts: number;
}

/** Receipts of one account, as charges of these days have them. The books prove with them once they are summed up. */
export class FilledDays {
  readonly accountId: string;
  readonly #storage: PostgresqlStorage;

  private constructor(storage: PostgresqlStorage, accountId: string) {
    this.#storage = storage;
    this.accountId = accountId;
  }

  static async begin(storage: PostgresqlStorage): Promise<FilledDays> {
    const { models } = configSchema.parse({ models: [{ id: testModel, servers: [{ url: "http://127.0.0.1:1" }] }] });
    await createPrices({ storage, clock: systemClock, random: systemRandom, models });
    const [accountId = ""] = await createAccounts(storage, longAgo, 1);
    return new FilledDays(storage, accountId);
  }

  /** Adds receipts with a line each, all paid by one slice. */
  async add({ first, count, receipts }: Days): Promise<void> {
    await makeDays(
      this.#storage.pool,
      Array.from({ length: count }, (_, at) => first + at),
    );
    for (let day = first; day < first + count; day++) {
      await this.#addDay(day, receipts);
    }
  }

  async #addDay(day: number, receipts: number): Promise<void> {
    const em = this.#storage.orm.em.fork();
    const [slice, account] = [v7({ msecs: day * dayMs }), `'${this.accountId}'::uuid`];
    const rate = (kind: string) =>
      `(select ${kind} from price where model = '${testModel}' order by version_id limit 1)`;
    const cost = `(${rate("input")} + ${rate("output")})`;
    const lot = `(select id from lot where account_id = ${account})`;
    const length = Math.min(dayMs, Date.now() - day * dayMs);
    const ms = `(${day * dayMs} + n * ${length}::bigint / ${receipts})`;
    const run = `(lpad(to_hex(${ms}), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`;
    const numbers = `from generate_series(0::bigint, ${receipts - 1}) n`;
    await em.execute(`update lot set spent = spent + ${receipts} * ${cost} where account_id = ${account}`);
    await em.execute(`insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
      select '${slice}', id, account_id, '${v7()}', 1, ${receipts} * ${cost}, ${receipts} * ${cost}, false
      from lot where account_id = ${account}`);
    await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
        shortfall, status, settled_at)
      select 'd${day}r' || n, ${run}, ${account}, '', '${testModel}', 1, 1, ${cost}, 0, 'completed',
        to_timestamp(${ms} / 1000.0) ${numbers}`);
    await em.execute(`insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens,
        input_rate, output_rate, cost)
      select 'd${day}r' || n, ${run}, 0, ${lot}, '${slice}', 1, 1, ${rate("input")}, ${rate("output")}, ${cost} ${numbers}`);
  }

  /** Makes the sums of usage, as folding leaves them. */
  async sumUp(): Promise<void> {
    const em = this.#storage.orm.em.fork();
    const hour = hourOf.postgresql("settled_at");
    const columns = `usage_rollup (account_id, span, slot, key_id, model, ${sumNames.join(", ")})`;
    await em.execute(`insert into ${columns} select account_id, 'hour', ${hour}, key_id, model, ${sumsOfReceipts}
      from usage group by account_id, ${hour}, key_id, model`);
    await em.execute(`insert into ${columns} select account_id, 'day', slot / 24, key_id, model, ${sumsOfSums}
      from usage_rollup where span = 'hour' group by account_id, slot / 24, key_id, model`);
    await em.execute(`insert into ${columns} select '${allAccounts}'::uuid, span, slot, '', model, ${sumsOfSums}
      from usage_rollup group by span, slot, model`);
    await fillSpans(this.#storage);
    await em.execute("analyze");
  }
}
