import { useState } from "preact/hooks";
import type { Account, Payment } from "#gen/tollgate/accounts/v1/account_pb.js";
import { query } from "../../app/router.ts";
import { isCustomer, mayPay } from "../../app/session.ts";
import { payments } from "../../contract/clients.ts";
import { Months } from "../account/months.tsx";
import { Payments } from "../account/payments.tsx";
import { useQuery } from "../calls/use-query.ts";
import { OwnPrices } from "../prices/own-prices.tsx";
import { AutoTopUpSection } from "./auto-top-up.tsx";
import { BuyCredit } from "./buy-credit.tsx";
import { Invoices } from "./invoices.tsx";
import { RefundPayment } from "./refund-payment.tsx";
import { Returned } from "./returned.tsx";

interface Props {
  readonly account: Account;
  readonly onChanged: () => void;
}

/** What was paid and at which prices, and the ways to pay and to get money back through the provider. */
export function Money({ account, onChanged }: Props) {
  const [refunded, setRefunded] = useState<Payment | undefined>(undefined);
  const { data: options, reload } = useQuery(
    (signal) => payments.getPaymentOptions({ accountId: account.id }, { signal }),
    [account.id],
  );
  const checkoutId = query.value.get("checkout") ?? "";
  const { id } = account;
  const refund = (payment: Payment) => (
    <button
      type="button"
      class="small-button"
      aria-label={`Refund ${payment.reference}`}
      onClick={() => setRefunded(payment)}
    >
      Refund
    </button>
  );
  return (
    <>
      {checkoutId !== "" && <Returned key={checkoutId} id={checkoutId} onCredited={onChanged} />}
      {options?.available === false && isCustomer.value && (
        <p class="notice">Credit cannot be bought here: ask whoever runs this service for it.</p>
      )}
      {options?.available && (
        <>
          <BuyCredit accountId={id} options={options} />
          {options.autoTopUp && <AutoTopUpSection accountId={id} />}
          {mayPay.value && <Invoices accountId={id} version={account.paidTotalPicoUsd} />}
        </>
      )}
      <OwnPrices accountId={id} onChanged={reload} />
      <Payments
        accountId={id}
        balance={account.balancePicoUsd - account.debtPicoUsd}
        act={options?.available && mayPay.value ? refund : undefined}
      />
      <Months accountId={id} />
      {refunded && (
        <RefundPayment
          accountId={id}
          payment={refunded}
          onClose={() => setRefunded(undefined)}
          onRefunded={onChanged}
        />
      )}
    </>
  );
}
