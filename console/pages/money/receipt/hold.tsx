import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatCount } from "../../../format/numbers.ts";
import { Amount, mostDecimals, Rate } from "../../../parts/figures/amount.tsx";
import { Meter } from "../../../parts/figures/figure.tsx";
import { Section } from "../../../parts/frame/page.tsx";

/** The hold at first, the hold after the input was counted, and the final cost. */
export function Hold({ receipt }: { readonly receipt: Receipt }) {
  const { hold, costPicoUsd, inputTokens, outputTokens } = receipt;
  if (hold === undefined) {
    return null;
  }
  const most = hold.heldPicoUsd;
  const [counted = 0n] = [inputTokens, hold.inputTokens].sort((one, other) => Number(one - other));
  const rates = [hold.inputPicoUsdPerToken, hold.outputPicoUsdPerToken] as const;
  const steps = [
    {
      name: "Reserved",
      why: "before it began: the most it could cost",
      amount: hold.heldPicoUsd,
      tokens: [hold.inputTokens, hold.outputTokens],
    },
    {
      name: "Reduced",
      why: "once the input was counted",
      amount: hold.shrunkPicoUsd,
      tokens: [counted, hold.outputTokens],
    },
    {
      name: "Charged",
      why: "at its end; the rest was free again",
      amount: costPicoUsd,
      tokens: [inputTokens, outputTokens],
    },
  ] as const;
  const decimals = mostDecimals(steps.map(({ amount }) => amount));
  return (
    <Section title="Reserved first, then charged">
      <ol class="hold card">
        {steps.map(({ name, why, amount, tokens }) => (
          <li key={name}>
            <span class="hold-name">
              {name} <span class="muted small">{why}</span>
            </span>
            <span class="hold-amount">
              <Amount pico={amount} name={name === "Charged" ? "settled" : "held"} decimals={decimals} />
            </span>
            <Meter part={most === 0n ? 0 : Number(amount) / Number(most)} isLevel />
            <span class="muted small">
              {name === "Charged" ? (
                `${formatCount(tokens[0])} input and ${formatCount(tokens[1])} output tokens, at the prices of the credits that paid`
              ) : (
                <>
                  {formatCount(tokens[0])} × <Rate picoPerToken={rates[0]} /> + {formatCount(tokens[1])} ×{" "}
                  <Rate picoPerToken={rates[1]} /> per 1M
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
