import { allAccounts, sumNames, sumsOfSums } from "#src/money/store/rollups.ts";
import { spanHours } from "#src/money/store/spans.ts";
import type { Storage } from "#src/storage/storage.ts";

/** Makes the spans of all rollups of hours at once, each length out of the one before. */
export async function fillSpans(storage: Storage): Promise<void> {
  const em = storage.orm.em.fork();
  const insert = (detail: string, hours: number, of: string, from: string) =>
    em.execute(`insert into usage_span (detail, hours, slot, account_id, key_id, model, ${sumNames.join(", ")})
      select '${detail}', ${hours}, ${of}, ${sumsOfSums} from ${from} group by 3, 4, 5, 6 order by 3, 4, 5, 6`);
  const ofHours = `usage_rollup where span = 'hour' and account_id <> '${allAccounts}'`;
  const ofKeys = (hours: number) => `usage_span where detail = 'key' and hours = ${hours}`;
  for (const [at, hours] of spanHours.entries()) {
    const shorter = spanHours[at - 1];
    const slot = shorter === undefined ? "slot" : `slot * ${shorter} / ${hours}`;
    await insert("key", hours, `${slot}, account_id, key_id, model`, shorter === undefined ? ofHours : ofKeys(shorter));
    await insert("account", hours, "slot, account_id, '', ''", ofKeys(hours));
  }
}
