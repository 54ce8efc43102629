import { hourMs } from "#lib/time/days.ts";
import type { Charge } from "../../model/charges/charge.ts";
import { parseLabels } from "../../model/charges/labels.ts";
import { addSums, sumNames } from "../rollups.ts";
import type { Runner } from "./executor.ts";
import { add, type Sums, sumsOf } from "./sums.ts";

const labelKey = "account_id, name, hour, value, key_id, model, core_id";

const addLabel = `
  insert into usage_label (${labelKey}, ${sumNames.join(", ")}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (${labelKey}) do update set ${addSums("usage_label")}`;

interface LabelSums extends Sums {
  readonly key: readonly (string | number)[];
}

/** Counts stored charges in the sums of their labels. Call it in a transaction. */
export function sumLabels(run: Runner, charges: readonly Charge[], coreId: string): void {
  const found = new Map<string, LabelSums>();
  for (const charge of charges) {
    if (charge.labels === undefined) {
      continue;
    }
    for (const [name, value] of Object.entries(parseLabels(charge.labels))) {
      const hour = Math.floor(charge.settledAt / hourMs);
      const key = [charge.accountId, name, hour, value, charge.keyId, charge.model, coreId];
      const known = found.get(JSON.stringify(key));
      if (known === undefined) {
        found.set(JSON.stringify(key), { key, sums: sumsOf(charge) });
      } else {
        add(known, charge);
      }
    }
  }
  for (const { key, sums } of found.values()) {
    run.run(addLabel, [...key, ...sums]);
  }
}
