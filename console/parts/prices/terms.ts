import type { OwnPrices } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { formatPercent, parsePercent } from "../../../lib/money/basis-points.ts";
import { formatRate } from "../../../lib/money/money.ts";
import { countOf } from "../../format/numbers.ts";
import { rateForm, readRate } from "../forms/typed.ts";

/** Own prices as they are sent. */
export type Terms = Pick<OwnPrices, "discountBasisPoints"> & {
  readonly fixed: {
    readonly model: string;
    readonly inputPicoUsdPerToken: bigint;
    readonly outputPicoUsdPerToken: bigint;
  }[];
};

/** Own prices as they are typed: a per cent, and USD per 1M tokens. */
export interface TermTexts {
  readonly discount: string;
  readonly fixed: readonly FixedTexts[];
}

export interface FixedTexts {
  readonly model: string;
  readonly input: string;
  readonly output: string;
}

const mostBasisPoints = 9999;

export const general: Terms = { discountBasisPoints: 0, fixed: [] };

export const areGeneral = ({ discountBasisPoints, fixed }: Terms): boolean =>
  discountBasisPoints === 0 && fixed.length === 0;

export function toTexts({ discountBasisPoints, fixed }: Terms): TermTexts {
  return {
    discount: discountBasisPoints === 0 ? "" : formatPercent(discountBasisPoints),
    fixed: fixed.map(({ model, inputPicoUsdPerToken, outputPicoUsdPerToken }) => ({
      model,
      input: formatRate(inputPicoUsdPerToken),
      output: formatRate(outputPicoUsdPerToken),
    })),
  };
}

/** Throws an error that says what is wrong. */
export function readTerms({ discount, fixed }: TermTexts): Terms {
  const discountBasisPoints = parsePercent(discount.trim() || "0");
  if (discountBasisPoints === undefined || discountBasisPoints > mostBasisPoints) {
    throw new Error("The discount has to be a per cent from 0 to 99.99 with at most two decimals, such as 12.5.");
  }
  return { discountBasisPoints, fixed: fixed.map(readFixed) };
}

function readFixed({ model, input, output }: FixedTexts) {
  const [inputPicoUsdPerToken, outputPicoUsdPerToken] = [readRate(input), readRate(output)];
  if (inputPicoUsdPerToken === undefined || outputPicoUsdPerToken === undefined) {
    throw new Error(`The prices of ${model} have to be ${rateForm}.`);
  }
  return { model, inputPicoUsdPerToken, outputPicoUsdPerToken };
}

/** A discount in words that no line's end divides, such as "12.5 % off". */
export const formatDiscount = (basisPoints: number): string => `${formatPercent(basisPoints)}\u00a0%\u00a0off`;

/** Own prices in words, such as "12.5 % off, and fixed prices of 2 models". */
export function describeTerms({ discountBasisPoints, fixed }: Terms): string {
  const prices = fixed.length === 1 ? "a fixed price of 1 model" : `fixed prices of ${countOf(fixed.length, "model")}`;
  const parts = [
    ...(discountBasisPoints > 0 ? [`${formatDiscount(discountBasisPoints)} the general prices`] : []),
    ...(fixed.length > 0 ? [prices] : []),
  ];
  return parts.join(", and ") || "the general prices";
}
