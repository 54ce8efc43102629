import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { countOf } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Figure, Figures } from "../figures/figure.tsx";

/** The account's balance, and the part of it that running requests hold. */
export function Balance({ account }: { readonly account: Account }) {
  const { balancePicoUsd, heldPicoUsd, debtPicoUsd, paidTotalPicoUsd, lots } = account;
  return (
    <Figures>
      <Figure
        name="Balance"
        isWide
        detail={lots.length === 0 ? "No credit is left" : `The sum of ${countOf(lots.length, "credit")} below`}
      >
        <Amount pico={balancePicoUsd} name="balance" />
      </Figure>
      <Figure name="Reserved" detail="Part of it, for requests that run now">
        <Amount pico={heldPicoUsd} name="held" />
      </Figure>
      {debtPicoUsd > 0n && (
        <Figure name="Debt" detail="Paid first from the next top-up">
          <Amount pico={debtPicoUsd} name="debt" />
        </Figure>
      )}
      <Figure name="Total paid" detail={account.freeOnly ? "Runs on free money alone" : "Refunds deducted"}>
        <Amount pico={paidTotalPicoUsd} name="paid" />
      </Figure>
    </Figures>
  );
}
