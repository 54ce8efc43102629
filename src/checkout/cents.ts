import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { cent } from "#lib/money/cents.ts";

/** Throws INVALID_ARGUMENT unless an amount is whole cents. */
export function demandCents(amount: number): void {
  if (amount % cent !== 0) {
    throw failure(Reason.INVALID_ARGUMENT, "The amount must be whole cents.", { parameter: "amount_pico_usd" });
  }
}

/** `amount · of / to`, rounded up, exactly. */
export function scaleUp(amount: number, of: number, to: number): number {
  return Number((BigInt(amount) * BigInt(of) + BigInt(to) - 1n) / BigInt(to));
}
