import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { parseRate } from "#lib/money/money.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import type { Rates } from "../model/rates.ts";

/** The highest rate: 1,000 USD per 1M tokens. It keeps the price of any request an exact number. */
const highestRate = 1_000_000_000;
/** USD per 1M output tokens of a generation model without a configured price. */
const defaultOutput = "0.25";

/** The configured base price. Throws RangeError when it is out of bounds. */
export function configuredRates(model: ModelConfig): Rates {
  const output = model.kind === "embedding" ? "0" : (model.price.output ?? defaultOutput);
  return { input: readRate(model, model.price.input), output: readRate(model, output) };
}

function readRate(model: ModelConfig, usdPerMillion: string): number {
  const rate = parseRate(usdPerMillion);
  if (rate !== undefined && rate <= BigInt(highestRate)) {
    return Number(rate);
  }
  throw new RangeError(`${model.id}: the price ${usdPerMillion} is not from 0 to 1000 USD per 1M tokens`);
}

/** Checks the rates that an operator gives a model of this kind. Throws INVALID_ARGUMENT, which names the field. */
export function checkRates(kind: ModelConfig["kind"] | undefined, { input, output }: Rates): void {
  for (const [parameter, rate] of [
    ["input_pico_usd_per_token", input],
    ["output_pico_usd_per_token", output],
  ] as const) {
    if (!Number.isInteger(rate) || rate < 0 || rate > highestRate) {
      throw refuse(parameter, "A price must be from 0 to 1000 USD per 1M tokens.");
    }
  }
  if (kind === "embedding" && output !== 0) {
    throw refuse("output_pico_usd_per_token", "An embedding model has no output price.");
  }
}

function refuse(parameter: string, message: string) {
  const value = { limitPicoUsd: BigInt(highestRate) };
  return failure(Reason.INVALID_ARGUMENT, message, { parameter, bound: { case: "money", value } });
}
