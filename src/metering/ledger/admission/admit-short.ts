import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../../lib/errors/failure.ts";
import { durationOf } from "../../../../lib/time/duration.ts";
import type { ChargedTokens, PicoUsd, Rates } from "../../interface.ts";
import { costOf } from "../wallet/split.ts";
import type { Wallet } from "../wallet/wallet.ts";

/** A balance that cannot pay this many tokens counts as exhausted. */
const leastTokens = 64;
/** When held money may be free again. */
const heldRetryMs = 1000;

/**
 * Decides about a request whose worst case is more than the free money of a wallet. Admits it with
 * fewer output tokens when that is all the money there is; undefined: wait until running requests
 * give money back. When the time to wait is over it is last, and nothing is undefined.
 *
 * Throws BALANCE_EXHAUSTED or BALANCE_HELD.
 */
export function admitShort(
  wallet: Wallet,
  rates: Rates,
  wanted: ChargedTokens,
  last: boolean,
): ChargedTokens | undefined {
  const worst = costOf(wanted, rates);
  const elsewhere = Number(min(wallet.elsewhere + wallet.unleased, BigInt(Number.MAX_SAFE_INTEGER - wallet.available)));
  const everything = wallet.available + elsewhere;
  const tooLittle = everything < worst && shorten(everything, rates, wanted) === undefined;
  if (everything === 0 || tooLittle) {
    throw exhausted(everything, rates);
  }

  const nothingToWaitFor = everything === wallet.free;
  const short = everything < worst ? shorten(wallet.free, rates, wanted) : undefined;
  if (nothingToWaitFor || last) {
    if (short !== undefined) {
      return short;
    }
    throw failure(Reason.BALANCE_HELD, "The balance is held by requests of this account that are still running.", {
      retryAfter: durationOf(heldRetryMs),
    });
  }
  return undefined;
}

/** The tokens that the money pays: the whole input, and as much output as remains. Undefined: too little. */
function shorten(money: PicoUsd, rates: Rates, wanted: ChargedTokens): ChargedTokens | undefined {
  if (wanted.outputTokens === 0 || money < leastTokens * Math.max(rates.input, rates.output)) {
    return undefined;
  }
  const left = money - wanted.inputTokens * rates.input;
  if (left < rates.output || left < 0) {
    return undefined;
  }
  const outputTokens = rates.output === 0 ? wanted.outputTokens : Math.floor(left / rates.output);
  return { inputTokens: wanted.inputTokens, outputTokens: Math.min(wanted.outputTokens, outputTokens) };
}

function exhausted(money: PicoUsd, rates: Rates) {
  const nothing = money === 0 || money < leastTokens * Math.max(rates.input, rates.output);
  return failure(
    Reason.BALANCE_EXHAUSTED,
    nothing
      ? "The account's balance is exhausted. Top it up to continue."
      : "The account's balance is exhausted: it does not cover this prompt. Top it up to continue.",
  );
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
