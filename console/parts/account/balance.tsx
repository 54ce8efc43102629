import { type Account, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { countOf } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Figure, Figures } from "../figures/figure.tsx";

/** The account's balance, and the part of it that running requests hold. */
export function Balance({ account }: { readonly account: Account }) {
  const { balancePicoUsd, heldPicoUsd, debtPicoUsd, paidTotalPicoUsd, creditLinePicoUsd, creditLeftPicoUsd } = account;
  const credits = account.lots.filter(({ kind }) => kind !== LotKind.CREDIT).length;
  return (
    <Figures>
      <Figure
        name="Balance"
        isWide
        detail={credits === 0 ? "No money is left" : `The sum of ${countOf(credits, "credit")}`}
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
      {creditLinePicoUsd > 0n && (
        <Figure
          name="Credit line"
          detail={
            <>
              <Amount pico={creditLeftPicoUsd} name="credit-left" /> of it is left
            </>
          }
        >
          <Amount pico={creditLinePicoUsd} name="credit-line" />
        </Figure>
      )}
      <Figure name="Total paid" detail={account.freeOnly ? "Runs on free money alone" : "Refunds deducted"}>
        <Amount pico={paidTotalPicoUsd} name="paid" />
      </Figure>
    </Figures>
  );
}
