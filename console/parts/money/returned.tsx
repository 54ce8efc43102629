import { useEffect, useState } from "preact/hooks";
import { CheckoutState, type GetCheckoutResponse } from "#gen/tollgate/payments/v1/checkout_pb.js";
import { formatUsd } from "../../../lib/money/money.ts";
import { query, setQuery } from "../../app/router.ts";
import { payments } from "../../contract/clients.ts";
import { isFinal } from "../../contract/failure.ts";
import { Failure } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";

const askMs = 1500;
/** Milliseconds after which an event counts as late. */
const lateMs = 20_000;

interface Props {
  /** The checkout's id. */
  readonly id: string;
  readonly onCredited: () => void;
}

/** What somebody sees who comes back from the provider's page: waits until the ledger has the money. */
export function Returned({ id, onCredited }: Props) {
  const [ended, setEnded] = useState<GetCheckoutResponse | undefined>(undefined);
  const isCanceled = query.value.has("canceled");
  const end = (checkout: GetCheckoutResponse) => {
    setEnded(checkout);
    if (checkout.state === CheckoutState.CREDITED) {
      onCredited();
    }
  };
  if (ended === undefined) {
    return <Waiting id={id} isCanceled={isCanceled} onEnded={end} />;
  }
  const isCredited = ended.state === CheckoutState.CREDITED;
  return (
    <div class={isCredited ? "notice good" : "notice"} role="status">
      <p>{isCredited ? `${formatUsd(ended.amountPicoUsd)} USD added.` : "Nothing was paid."}</p>
      <button type="button" class="small-button" onClick={() => setQuery({ checkout: "", canceled: "" })}>
        Close
      </button>
    </div>
  );
}

interface WaitingProps {
  readonly id: string;
  readonly isCanceled: boolean;
  readonly onEnded: (checkout: GetCheckoutResponse) => void;
}

function Waiting({ id, isCanceled, onEnded }: WaitingProps) {
  const { data, error } = useQuery(
    async (signal) => {
      const checkout = await payments.getCheckout({ checkoutId: id }, { signal });
      const { state } = checkout;
      const isOver = state === CheckoutState.CREDITED || state === CheckoutState.EXPIRED;
      if (isOver || (isCanceled && state === CheckoutState.OPEN)) {
        onEnded(checkout);
      }
      return checkout;
    },
    [id],
    askMs,
  );
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateMs);
    return () => clearTimeout(timer);
  }, []);
  if (error !== undefined && isFinal(error)) {
    return <Failure error={error} />;
  }
  const isPaid = data?.state === CheckoutState.PAID;
  return (
    <div class="notice returned" role="status">
      <p>
        {isPaid
          ? "Paid. The money is on its way into the account…"
          : "Waiting until the payment is confirmed; this page can be left…"}
      </p>
      {data?.problem && <p>{data.problem}</p>}
      {error !== undefined ? (
        <p>It cannot be asked at the moment, and is asked again by itself. Nothing that was paid is lost.</p>
      ) : (
        isLate &&
        !data?.problem && (
          <p>
            It takes longer than usual. The payment provider is asked; the credit comes by itself, also without this
            page.
          </p>
        )
      )}
      <progress aria-label="The payment" max={3} value={isPaid ? 2 : 1} />
    </div>
  );
}
