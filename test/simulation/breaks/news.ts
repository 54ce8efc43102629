import { UsageOutbox } from "#src/delivery/usage/usage-outbox.ts";
import { LotBalances } from "#src/money/books/bill/lot-balances.ts";
import { DayValues } from "#src/money/labels/day-values.ts";
import { SliceAudit } from "#src/money/ledger/wallet/cache/slice-audit.ts";
import { BalanceEvents } from "#src/money/thresholds/balance-events.ts";
import { type Break, method } from "./break.ts";

/** Charges and thresholds are told, to a receiver that is away now and then. */
const news = { hasNews: true, trafficMs: 15, requests: 300, faultsMs: 500 };

const { next } = UsageOutbox.prototype;
const { add } = LotBalances.prototype;
const { judgeFall } = BalanceEvents.prototype;
type Judged = Parameters<BalanceEvents["judgeFall"]>;

/** Guarantees of what is told, and of what a core believes to have. */
export const newsBreaks: readonly Break[] = [
  {
    name: "usage events are taken for told before they are sent",
    judge: "usage events",
    only: [],
    settings: news,
    apply: method(UsageOutbox, "next", async function (this: UsageOutbox, limit: number) {
      const receipts = await next.call(this, limit);
      if (receipts.length > 0) {
        await this.taken(receipts);
      }
      return receipts;
    }),
  },
  {
    name: "a label has any number of values",
    judge: "labels",
    only: [],
    settings: { hasLabels: true, requests: 300 },
    apply: method(DayValues, "take", () => true),
  },
  {
    name: "what a month charged is not given back to the credits that it began with",
    judge: "months",
    only: [],
    apply: method(LotBalances, "add", function (this: LotBalances, lotId: string, amount: bigint) {
      const isFirst = this.list().every(([id]) => id !== lotId);
      if (isFirst) {
        add.call(this, lotId, amount);
      }
    }),
  },
  {
    name: "what was told of a balance is forgotten",
    judge: "thresholds",
    only: [],
    settings: news,
    apply: method(BalanceEvents, "judgeFall", async function (this: BalanceEvents, ...[em, account]: Judged) {
      await judgeFall.call(this, em, account);
      account.balanceTold = "ample";
    }),
  },
  {
    name: "a core never finds out what a lost reply has leased to it",
    judge: "wallets",
    seed: 2,
    only: ["one lost reply", "lost replies"],
    apply() {
      const undo = ["run", "clear"].map((name) => method(SliceAudit, name, async () => {})());
      return () => undo.map((put) => put());
    },
  },
];
