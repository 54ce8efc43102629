import type Stripe from "stripe";
import { cent } from "#lib/money/cents.ts";
import type { Provider, Returned } from "../provider.ts";
import { toCents } from "./amounts.ts";
import { asking } from "./client.ts";
import { marks } from "./found.ts";

/** More than Stripe makes of one payment. */
const most = 100;

/** Refunds and disputes of payments. */
export function createRefund(stripe: Stripe): Provider["refund"] {
  const listRefunds = async (reference: string) =>
    (await stripe.refunds.list({ payment_intent: reference, limit: most })).data.map(toRefund);
  return {
    make: ({ id, accountId, reference, amount }) =>
      asking(async () => {
        // An earlier try: Stripe forgets idempotency keys after a day.
        const earlier = (await listRefunds(reference)).find(({ order }) => order === id);
        const metadata = { [marks.account]: accountId, [marks.order]: id };
        return (
          earlier ??
          toRefund(
            await stripe.refunds.create(
              { payment_intent: reference, amount: toCents(amount), metadata },
              { idempotencyKey: `tollgate-refund-${id}` },
            ),
          )
        );
      }),
    list: (reference) =>
      asking(async () => {
        const disputes = await stripe.disputes.list({ payment_intent: reference, limit: most });
        return [...(await listRefunds(reference)), ...disputes.data.filter(isMoved).map(toDispute)];
      }),
  };
}

function toRefund({ id, metadata, amount, status }: Stripe.Refund): Returned {
  return {
    id,
    kind: "refund",
    order: metadata?.[marks.order],
    amount: amount * cent,
    state: status === "failed" || status === "canceled" ? "back" : "gone",
  };
}

/** An inquiry takes no money yet. */
const isMoved = ({ status }: Stripe.Dispute) => !status.startsWith("warning_");

function toDispute({ id, amount, status }: Stripe.Dispute): Returned {
  return {
    id,
    kind: "dispute",
    order: undefined,
    amount: amount * cent,
    state: status === "won" || status === "prevented" ? "back" : "gone",
  };
}
