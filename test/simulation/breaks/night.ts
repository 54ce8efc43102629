import { gunzipSync, gzipSync } from "node:zlib";
import { ReceiptDigests } from "#src/money/books/seals/digest-receipts.ts";
import { BudgetRecounts } from "#src/money/thresholds/budget-recounts.ts";
import { chargeStatements } from "../database/charges.ts";
import type { Meaning } from "../database/statement.ts";
import { Night } from "../world/night.ts";
import { type Break, getter, method } from "./break.ts";

const { folderOf } = Night.prototype;
const { finish } = ReceiptDigests.prototype;
const slicesOf = Object.getOwnPropertyDescriptor(ReceiptDigests.prototype, "slices")?.get as () => unknown;
const settle = chargeStatements.settle as Meaning;
/** The key of a tally. */
const key = "core_id || hour || account_id || key_id || model";
/** A night long enough for a day's receipts to leave, with requests before and after it. */
const night = { isNight: true, trafficMs: 150, requests: 300, faultsMs: 500 };

/** Guarantees for receipts that leave the books, and for keys that get limits while their requests run. */
export const nightBreaks: readonly Break[] = [
  {
    name: "requests that were admitted before their key had a limit are not counted",
    judge: "counted budgets",
    seed: 27,
    only: [],
    settings: night,
    apply: method(BudgetRecounts, "run", async () => []),
  },
  {
    name: "a charge whose lease of a budget a failover has lost counts nowhere",
    judge: "counted budgets",
    seed: 5,
    only: ["failover"],
    settings: night,
    instead: {
      settle(tables, values) {
        const before = new Set(
          tables.all<{ key: string }>(`select ${key} as key from usage_tally where unbudgeted`).map((row) => row.key),
        );
        const answer = settle(tables, values);
        const forgotten = `update usage_tally set unbudgeted = false where ${key} not in (select value from json_each(?))`;
        tables.run(forgotten, JSON.stringify([...before]));
        return answer;
      },
    },
  },
  {
    name: "a seal forgets what a slice has spent",
    judge: "books",
    only: [],
    settings: night,
    apply: getter(ReceiptDigests, "slices", function (this: ReceiptDigests) {
      const [, ...others] = Reflect.apply(slicesOf, this, []) as ReadonlyMap<string, bigint>;
      return new Map(others);
    }),
  },
  {
    name: "a seal is of other receipts than those of its day",
    judge: "books",
    only: [],
    settings: night,
    apply: method(ReceiptDigests, "finish", function (this: ReceiptDigests) {
      return finish.apply(this).map((account) => ({ ...account, costLow: account.costLow + 1 }));
    }),
  },
  {
    name: "an archive lacks its last receipt",
    judge: "archives",
    only: [],
    settings: night,
    apply: method(Night, "folderOf", function (this: Night, ...parameters: Parameters<typeof folderOf>) {
      const place = folderOf.apply(this, parameters);
      const withoutFirst = (text: string) => text.split("\n").slice(1).join("\n");
      const create = async (name: string) => {
        const file = await place.create(name);
        return { ...file, write: (part: Buffer) => file.write(gzipSync(withoutFirst(gunzipSync(part).toString()))) };
      };
      return { ...place, create };
    }),
  },
];
