import type { Rates } from "#src/money/model/rates.ts";
import type { World } from "../world.ts";

/** A discount is in hundredths of a per cent. */
const whole = 10_000n;

interface Own {
  readonly id: string;
  readonly account: string;
  readonly number: number;
  readonly discount: number;
  /** Fixed prices as JSON, by model. */
  readonly fixed: string;
}

/**
 * Judges accounts' own prices by a calculation of its own: what an account is told, and what its requests cost. No two own
 * prices of an account in a row are the same.
 */
export function judgeOwnPrices(world: World): void {
  const owns = world.server.tables.all<Own>(
    `select own.id, account_id as account, number, discount, (
       select json_group_object(model, json_object('input', input, 'output', output))
       from (select * from own_price where own_prices_id = own.id order by model)) as fixed
     from own_prices own order by account_id, number`,
  );
  const byId = new Map(owns.map((own) => [own.id, own]));
  judgeNumbers(world, owns);
  judgeTold(world, byId);
  judgeCharged(world, byId);
}

function judgeNumbers({ history }: World, owns: readonly Own[]): void {
  for (const [at, own] of owns.entries()) {
    const before = owns[at - 1];
    if (before?.account === own.account && before.discount === own.discount && before.fixed === own.fixed) {
      history.violation("prices", `own prices ${own.number} of ${own.account} are the same as those before`);
    }
  }
}

/** Own prices that a failover has lost can no longer be looked at. */
function judgeTold({ terms, history }: World, owns: ReadonlyMap<string, Own>): void {
  for (const { own, models } of terms?.told ?? []) {
    const found = owns.get(own ?? "");
    for (const { model, general, told } of models) {
      const rates = own === undefined ? general : found && ratesOf(found, model, general);
      if (rates !== undefined && (rates.input !== told.input || rates.output !== told.output)) {
        history.violation(
          "prices",
          `${found?.account} was told ${JSON.stringify(told)} for ${model} instead of ${JSON.stringify(rates)}`,
        );
      }
    }
  }
}

/** No line of a receipt is above the own prices that its lot locked in beside its price list. */
function judgeCharged({ server, history }: World, owns: ReadonlyMap<string, Own>): void {
  const lines = server.tables.all<
    { lot: string; own: string; model: string } & Record<"in" | "out" | "input" | "output", number>
  >(
    `select lot.id as lot, own_prices_id as own, usage.model, max(line.input_rate) as "in", max(line.output_rate) as "out",
       price.input, price.output
     from usage_line line join usage using (request_id, run_id) join lot on lot.id = line.lot_id
     join price on price.model = usage.model and price.version_id = coalesce(
       (select max(version_id) from price one where one.model = usage.model and version_id <= price_version_id),
       (select min(version_id) from price one where one.model = usage.model and version_id > price_version_id))
     where own_prices_id is not null group by lot.id, usage.model`,
  );
  for (const { lot, own, model, in: input, out: output, ...general } of lines) {
    const found = owns.get(own);
    const rates = found && ratesOf(found, model, general);
    if (rates === undefined || input > rates.input || output > rates.output) {
      history.violation(
        "prices",
        `lot ${lot} pays ${input} / ${output} for ${model}, where its own prices are ${JSON.stringify(rates)}`,
      );
    }
  }
}

function ratesOf({ discount, fixed }: Own, model: string, general: Rates): Rates {
  const less = (rate: number) => Number(BigInt(rate) - (BigInt(rate) * BigInt(discount)) / whole);
  const { [model]: price } = JSON.parse(fixed) as Readonly<Record<string, Rates>>;
  return price ?? { input: less(general.input), output: less(general.output) };
}
