import type { WorkLease } from "#src/storage/work-lease.ts";
import { Charges } from "./auto-top-up/charges.ts";
import { Crossings } from "./auto-top-up/crossings.ts";
import { AutoTopUps } from "./auto-top-up/settings.ts";
import { Checkouts } from "./checkouts.ts";
import { Customers } from "./customers.ts";
import type { Dependencies } from "./dependencies.ts";
import { Events } from "./events.ts";
import { Payments } from "./payments.ts";
import { Elsewhere } from "./returns/elsewhere.ts";
import { GiveBack } from "./returns/give-back.ts";
import { Refunds } from "./returns/refunds.ts";
import { Withdrawals } from "./returns/withdrawals.ts";
import { Sweep } from "./sweep.ts";

/** All that buys credit and pays it back. */
export function createCheckout(deps: Dependencies, lease: Pick<WorkLease, "hold" | "release">) {
  const customers = new Customers(deps);
  const payments = new Payments(deps);
  const withdrawals = new Withdrawals(deps);
  const elsewhere = new Elsewhere(deps, withdrawals);
  const charges = new Charges(deps, customers, payments);
  const crossings = new Crossings(deps, charges);
  const refunds = new Refunds(deps, withdrawals, elsewhere);
  return {
    customers,
    checkouts: new Checkouts(deps, customers),
    autoTopUps: new AutoTopUps(deps),
    refunds,
    giveBack: new GiveBack(deps, refunds, withdrawals),
    events: new Events(deps, payments, elsewhere),
    sweep: new Sweep(deps, { payments, charges, crossings, withdrawals, elsewhere }, lease),
  };
}

export type Checkout = ReturnType<typeof createCheckout>;
