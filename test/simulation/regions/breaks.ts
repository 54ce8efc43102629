import { Bank } from "./bank/bank.ts";
import { Region } from "./bank/region.ts";
import { Term } from "./bank/term.ts";
import type { Wealth } from "./customers.ts";
import { HomeBooks } from "./home/books.ts";
import { Home } from "./home/home.ts";
import type { HomeLot } from "./home/state.ts";
import { type LotFacts, type Notice, type SliceReport, times } from "./protocol.ts";

/** A rule of the protocol that is removed: the judges must notice. */
export interface Break {
  readonly name: string;
  /** The faults against which the rule protects. Absent: all faults strike. */
  readonly only?: readonly string[];
  /** A world that shows the break, or precedes one. Absent: the first. */
  readonly seed?: number;
  /** The mean interval of requests, so long that terms end between them. */
  readonly meanMs?: number;
  /** The number of requests. Absent: few. */
  readonly requests?: number;
  readonly wealth?: Wealth;
  /** Removes the rule. Returns the function that restores it. */
  apply(): () => void;
}

/** Replaces a property of a class. */
function patch(of: { prototype: object }, name: string, descriptor: PropertyDescriptor): () => () => void {
  return () => {
    const before = Object.getOwnPropertyDescriptor(of.prototype, name) as PropertyDescriptor;
    Object.defineProperty(of.prototype, name, { ...descriptor, configurable: true });
    return () => Object.defineProperty(of.prototype, name, before);
  };
}

const method = (of: { prototype: object }, name: string, value: unknown) => patch(of, name, { value, writable: true });
const getter = (of: { prototype: object }, name: string, value: unknown) => patch(of, name, { get: () => value });

const hear = Bank.prototype.hear;
const take = HomeBooks.prototype.take;
const close = HomeBooks.prototype.close;
const open = HomeBooks.prototype.open;

/** The newest generation that each bank has heard. */
const newest = new WeakMap<Bank, number>();

export const breaks: readonly Break[] = [
  {
    name: "neither side leaves a margin for clocks that differ",
    seed: 58,
    meanMs: 400,
    only: ["clock drift", "cut off"],
    apply() {
      const { margin } = times;
      times.margin = 0;
      return () => {
        times.margin = margin;
      };
    },
  },
  {
    name: "a region admits after its term",
    meanMs: 400,
    only: ["cut off"],
    apply: getter(Term, "isValid", true),
  },
  {
    name: "a minute of a limit is one of a clock that is too fast",
    seed: 54_000_338,
    requests: 10_000,
    apply() {
      const { sureMinute } = times;
      times.sureMinute = times.minute;
      return () => {
        times.sureMinute = sureMinute;
      };
    },
  },
  {
    name: "shares beyond what a limit was lowered to are used on",
    only: [],
    seed: 32,
    meanMs: 20,
    requests: 7000,
    apply: method(HomeBooks, "excess", () => 0),
  },
  {
    name: "the last report counts, and not the one with the larger number",
    only: ["overtaking messages", "late messages", "doubled messages"],
    apply: method(HomeBooks, "take", function (this: HomeBooks, region: string, report: SliceReport) {
      const lot = this.state.lots.get(report.lot.id) as HomeLot;
      const slice = this.slice(lot, region, report.epoch);
      lot.lent += slice.returned - Math.min(slice.returned, report.returned);
      slice.returned = Math.min(slice.returned, report.returned);
      slice.spent = Math.min(slice.spent, report.spent);
      return take.call(this, region, report);
    }),
  },
  {
    name: "a new store believes what was meant for the one before",
    only: ["region destroyed"],
    apply: method(Bank, "hear", function (this: Bank, notice: Notice) {
      hear.call(this, { ...notice, store: this.store.id });
    }),
  },
  {
    name: "the money of a silent region is lent again before its last word is known",
    meanMs: 400,
    only: ["cut off"],
    apply: method(HomeBooks, "close", function (this: HomeBooks, region: string, epoch: number) {
      close.call(this, region, epoch, () => true);
    }),
  },
  {
    name: "a store is read while requests of it may still run",
    seed: 14,
    meanMs: 400,
    only: ["cut off"],
    apply: method(Home, "readable", function (this: Home) {
      return [...this.state.regions.values()].filter(({ isSilent }) => isSilent).map(({ name }) => name);
    }),
  },
  {
    name: "the home shard lends after a failover before all regions told what they have",
    only: ["home failover"],
    apply: getter(HomeBooks, "inDoubt", false),
  },
  {
    name: "a region believes what the home shard said before its failover",
    seed: 198,
    wealth: "poor",
    meanMs: 100,
    only: ["home failover", "late messages"],
    apply: method(Bank, "hear", function (this: Bank, notice: Notice) {
      const generation = Math.max(notice.generation, newest.get(this) ?? 0);
      newest.set(this, generation);
      hear.call(this, { ...notice, generation });
    }),
  },
  {
    name: "a grant is told once, whether it was heard or not",
    only: ["lost messages"],
    apply: method(HomeBooks, "unconfirmed", function* (this: HomeBooks, region: string, epoch: number) {
      for (const { slices } of this.state.lots.values()) {
        const slice = slices.get(`${region}/${epoch}`);
        if (slice !== undefined && slice.confirmed < slice.granted) {
          slice.confirmed = slice.granted;
          yield slice;
        }
      }
    }),
  },
  {
    name: "a payment that is told of again is another payment",
    only: ["home failover"],
    apply: method(HomeBooks, "open", function (this: HomeBooks, facts: LotFacts) {
      const isAgain = this.state.lots.has(facts.id) && this.state.generation > 1;
      return open.call(this, isAgain ? { ...facts, id: `${facts.id} again` } : facts);
    }),
  },
  {
    name: "shares of a limit that come back are lent at once",
    only: ["cut off", "region killed"],
    apply: method(HomeBooks, "unleased", (lot: HomeLot) => Math.max(0, lot.amount - lot.lent)),
  },
  {
    name: "a region that does not hear of revocations serves on",
    seed: 27,
    meanMs: 400,
    only: ["cut off"],
    apply: method(Term, "knowsRevoked", () => true),
  },
  {
    name: "what the journals of a dead region say is not charged",
    only: ["region killed"],
    apply: method(Region, "recover", () => {}),
  },
];
