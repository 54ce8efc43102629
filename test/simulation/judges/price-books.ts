import type { Rates } from "#src/money/model/rates.ts";
import { modelNames } from "../cores/machine.ts";
import type { World } from "../world.ts";

/** Milliseconds within which a core that works has read rates. */
const readMs = 10_000;
/** Price lists that are looked at: the newest, whose numbers a failover may have given away anew. */
const newestLists = 30;

/** Judges that each core knows the rates of credits as they are stored. For a world that works. */
export async function judgePriceBooks({ server, machines, timeline, history }: World): Promise<void> {
  const lists = server.tables.all<Rates & { list: number; model: string }>(
    `select lists.of as list, price.model, price.input, price.output
     from (select distinct price_version_id as of from lot order by 1 desc limit ${newestLists}) lists join price on true
     where price.version_id = coalesce(
       (select max(version_id) from price one where one.model = price.model and version_id <= lists.of),
       (select min(version_id) from price one where one.model = price.model and version_id > lists.of))`,
  );
  const listed = lists.filter(({ model }) => modelNames.some((name) => name === model));
  for (const { life, name } of machines) {
    if (life === undefined) {
      continue;
    }
    const loads = listed.map(({ list, model, input, output }) =>
      life.money.prices.book.load({ priceVersion: list, ownPrices: null }, model).then(
        (known) => {
          if (known.input !== input || known.output !== output) {
            const told = `${known.input} / ${known.output} instead of ${input} / ${output}`;
            history.violation("prices", `${name} knows list ${list} of ${model} as ${told}`);
          }
        },
        (error: unknown) => history.violation("prices", `${name} does not know list ${list} of ${model}: ${error}`),
      ),
    );
    await timeline.until(Promise.all(loads), readMs);
  }
}
