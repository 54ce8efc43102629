import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import type { Price } from "#gen/tollgate/metering/v1/price_pb.js";
import { comfortable } from "../../../../lib/money/comfortable.ts";
import { countOf, formatCount, formatPercent } from "../../../format/numbers.ts";
import { Rate } from "../../../parts/figures/amount.tsx";
import { Figure, Figures } from "../../../parts/figures/figure.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { isSinking, reasonOf } from "./reason.ts";

const thousand = 1000n;

interface Props {
  readonly model: Model;
  /** Absent: the reader may see only the live price. */
  readonly price: Price | undefined;
}

/** The live price and what it is made of. */
export function CurrentPrice({ model, price }: Props) {
  const isEmbedding = model.kind === ModelKind.EMBEDDING;
  return (
    <Figures>
      <Figure
        name="Input, USD per 1M tokens"
        detail={
          price && (
            <Reason
              live={price.inputPicoUsdPerToken}
              base={price.baseInputPicoUsdPerToken}
              utilisation={price.utilisation}
            />
          )
        }
      >
        <Rate picoPerToken={model.inputPicoUsdPerToken} />
      </Figure>
      {!isEmbedding && (
        <Figure
          name="Output, USD per 1M tokens"
          detail={
            price && (
              <Reason
                live={price.outputPicoUsdPerToken}
                base={price.baseOutputPicoUsdPerToken}
                utilisation={price.utilisation}
              />
            )
          }
        >
          <Rate picoPerToken={model.outputPicoUsdPerToken} />
        </Figure>
      )}
      <Figure
        name="Context"
        detail={
          isEmbedding ? countOf(model.dimensions, "dimension") : `answers up to ${formatCount(model.maxOutputTokens)}`
        }
      >
        {formatCount(model.contextLength)}
      </Figure>
      {price && (
        <Figure name="Since" detail={explain(price)}>
          <Time at={price.since} isRelative />
        </Figure>
      )}
    </Figures>
  );
}

/** Why a price is what it is, and what it does next where that may surprise. */
function explain(price: Price): string {
  if (price.pinned) {
    return "Pinned: it does not move";
  }
  return isSinking(price)
    ? "Idle: it only falls, and money that comes in now keeps it (price.falls_when_idle)"
    : reasonOf(price);
}

interface ReasonProps {
  readonly live: bigint;
  readonly base: bigint;
  /** The part of the capacity that was in use when the price moved. Undefined: it did not move by itself. */
  readonly utilisation: number | undefined;
}

/** Explains a live price: the operator's base, and how busy the servers are. */
function Reason({ live, base, utilisation }: ReasonProps) {
  if (base === 0n || live === base) {
    return <>The base price</>;
  }
  const factor = Number((live * thousand) / base) / Number(thousand);
  return (
    <>
      = base <Rate picoPerToken={base} /> × {factor}
      {utilisation !== undefined &&
        `: ${formatPercent(utilisation)} busy, comfortable is ${formatPercent(comfortable)}`}
    </>
  );
}
