import { FileJournal } from "#src/money/journal/file-journal.ts";
import { BudgetAudit } from "#src/money/ledger/budget/budget-audit.ts";
import { CoreWatch } from "#src/money/ledger/core/core-watch.ts";
import { RunningHold } from "#src/money/ledger/hold.ts";
import { Settlement } from "#src/money/ledger/settlement/settlement.ts";
import { OpenCharges } from "#src/money/ledger/settlement/settler/open-charges.ts";
import { SliceAudit } from "#src/money/ledger/wallet/cache/slice-audit.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { EpochClaim } from "#src/money/model/store/core.ts";
import { PriceBook } from "#src/money/prices/price-book.ts";
import { PostgresqlLedgerStore } from "#src/money/store/postgresql/store.ts";
import { SqliteLedgerStore } from "#src/money/store/sqlite/store.ts";
import { usageColumns } from "#src/money/store/usage-columns.ts";
import { budgetStatements } from "../database/budgets.ts";
import { chargeStatements } from "../database/charges.ts";
import { lotStatements } from "../database/lots.ts";
import { type Meaning, parseArray } from "../database/statement.ts";
import { SimulatedDisk } from "../world/disk.ts";
import type { SimulatedProcess } from "../world/process.ts";
import { type Break, method } from "./break.ts";

const { enter } = SqliteLedgerStore.prototype;
const { of } = SimulatedDisk.prototype;
const { note } = Settlement.prototype;
const { settle: settleHold } = RunningHold.prototype;
const settle = chargeStatements.settle as Meaning;
const lockLots = lotStatements["lock lots"] as Meaning;
const lockBudget = budgetStatements["lock budget"] as Meaning;
const runAt = usageColumns.findIndex(({ property }) => property === "runId");
const requestAt = usageColumns.findIndex(({ property }) => property === "requestId");

/** Guarantees of the store, for cores that die and databases that forget. */
export const storeBreaks: readonly Break[] = [
  {
    name: "a charge whose reply was lost is stored again",
    judge: "overcharges",
    seed: 16,
    only: ["lost replies"],
    instead: {
      settle(tables, values) {
        const requests = parseArray(values[requestAt], "text");
        const runs = parseArray(values[runAt], "uuid").map((run, at) => {
          const sql = "select 1 from usage where request_id = ? and run_id = ?";
          const stored = tables.get(sql, requests[at] ?? null, run) !== undefined;
          return stored ? `${String(run).slice(0, -4)}ffff` : run;
        });
        return settle(tables, values.with(runAt, `{${runs.join()}}`));
      },
    },
  },
  {
    name: "a charge is stored on slices that are others' by now",
    judge: "books",
    seed: 3,
    only: ["suspend"],
    instead: {
      settle(tables, values) {
        const [core, epoch] = [String(values.at(-2)), Number(values.at(-1))];
        const lines = values.slice(usageColumns.length + 2, -2);
        for (const column of lines) {
          for (const id of String(column).startsWith("{0") ? parseArray(column, "uuid") : []) {
            tables.run("update slice set open = true, core_id = ?, epoch = ? where id = ?", core, epoch, id);
          }
        }
        return settle(tables, values);
      },
    },
  },
  {
    name: "slices that a dead process had are not taken over",
    judge: "proofs",
    only: ["kill"],
    instead: { adopt: () => [] },
  },
  {
    name: "on SQLite, slices that a dead process had are not taken over",
    judge: "proofs",
    seed: 3,
    only: ["kill"],
    settings: { isSqlite: true },
    apply: method(SqliteLedgerStore, "enter", async function (this: SqliteLedgerStore, claim: EpochClaim) {
      return { ...(await enter.call(this, claim)), adopted: [], adoptedBudgets: [] };
    }),
  },
  {
    name: "nobody is taken for dead",
    judge: "leases",
    only: ["journal gone"],
    apply: method(CoreWatch, "look", () => []),
  },
  {
    name: "what was leased without the core's knowledge is not looked for",
    judge: "leases",
    seed: 2,
    only: ["lost replies"],
    apply() {
      const undo = ["run", "clear", "clearAll"].map((name) => method(SliceAudit, name, async () => {})());
      return () => {
        for (const put of undo) {
          put();
        }
      };
    },
  },
  {
    name: "a core leases although a failover has lost its row",
    judge: "leases",
    seed: 14,
    only: ["failover", "journal gone", "kill"],
    instead: {
      "lock lots": (tables, values) => lockLots(tables, values).map((lot) => ({ ...lot, own: 1 })),
      "lock budget": (tables, values) => lockBudget(tables, values).map((budget) => ({ ...budget, own: 1 })),
    },
  },
  {
    name: "slices of budgets that a failover brings back are not looked for",
    judge: "leases",
    seed: 31,
    only: ["failover"],
    settings: { trafficMs: 100, faultsMs: 1000, requests: 200 },
    apply: method(BudgetAudit, "run", async () => {}),
  },
  {
    name: "a price version that took the number of a lost one is taken for that one",
    judge: "books",
    only: ["old backup"],
    seed: 46,
    settings: { trafficMs: 100, faultsMs: 1000, requests: 200 },
    apply: method(PriceBook, "look", async () => {}),
  },
  {
    name: "running requests are not noted",
    judge: "lost charges",
    seed: 3,
    only: ["kill"],
    apply: method(FileJournal, "note", () => {}),
  },
  {
    name: "a request's end is not noted while it waits for money beyond its hold",
    judge: "lost charges",
    seed: 6,
    only: ["kill", "slow calls", "lying engine"],
    settings: { trafficMs: 4, faultsMs: 400, requests: 3000 },
    apply() {
      const ended = new WeakSet<RunningHold>();
      const settles = function (this: RunningHold, ...how: Parameters<typeof settleHold>) {
        ended.add(this);
        return settleHold.apply(this, how);
      };
      const notes = function (this: Settlement, hold: RunningHold, tokens: ChargedTokens) {
        if (!ended.has(hold)) {
          note.call(this, hold, tokens);
        }
      };
      const restores = [method(RunningHold, "settle", settles)(), method(Settlement, "note", notes)()];
      return () => restores.forEach((restore) => void restore());
    },
  },
  {
    name: "charges that the store keeps waiting are not promised",
    judge: "lost charges",
    seed: 133,
    only: ["kill", "slow calls", "server away"],
    settings: { trafficMs: 20, faultsMs: 200, requests: 300 },
    apply: method(OpenCharges, "promiseWhileSlow", () => () => {}),
  },
  {
    name: "a promise is not written",
    judge: "lost charges",
    seed: 5,
    only: ["kill", "slow calls", "server away"],
    apply: method(FileJournal, "promise", async () => true),
  },
  {
    name: "a copy of a living core's journal is charged at once",
    judge: "spending",
    seed: 118,
    only: ["twin"],
    settings: { trafficMs: 5, faultsMs: 100, requests: 300 },
    apply: method(PostgresqlLedgerStore, "epochs", async () => []),
  },
  {
    name: "two processes have one journal, and so one id",
    judge: "spending",
    only: ["second process"],
    settings: { trafficMs: 5, faultsMs: 100, requests: 300 },
    apply: method(SimulatedDisk, "of", function (this: SimulatedDisk, process: SimulatedProcess) {
      return { ...of.call(this, process), lockFile: () => () => {} };
    }),
  },
];
