import { maxAmount } from "#src/storage/entities/amount.ts";
import type { Charge, ChargeLine } from "../../model/charges/charge.ts";
import type { ChargedTokens } from "../../model/interface.ts";
import type { Rates } from "../../model/rates.ts";
import { costOf } from "../wallet/split.ts";

/** The longest text that a column takes, in characters. */
const longest = 255;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns why no database can store a charge, whatever the state of the books. Undefined: the charge alone has no
 * fault. Trusts no type: a journal's content may come from another version, or from anywhere.
 */
export function findFault(charge: Charge): string | undefined {
  return findTextFault(charge) ?? findIdFault(charge) ?? findCountFault(charge) ?? findLineFault(charge);
}

function findTextFault(charge: Charge): string | undefined {
  for (const name of ["requestId", "keyId", "model", "status"] as const) {
    const text: unknown = charge[name];
    if (typeof text !== "string") {
      return `its ${name} is no text`;
    }
    if (text.length > longest) {
      return `its ${name} is longer than ${longest} characters`;
    }
    if (text.includes("\0")) {
      return `its ${name} has a NUL character`;
    }
  }
  return undefined;
}

function findIdFault({ accountId, runId, budgetSliceId }: Charge): string | undefined {
  if (budgetSliceId !== undefined && !uuid.test(String(budgetSliceId))) {
    return "its budgetSliceId is no slice's id";
  }
  if (!uuid.test(String(accountId))) {
    return "its accountId is no account's id";
  }
  return uuid.test(String(runId)) ? undefined : "its runId is no run's id";
}

function findCountFault(charge: Charge): string | undefined {
  for (const name of ["inputTokens", "outputTokens", "cost", "shortfall"] as const) {
    if (!isCount(charge[name])) {
      return `its ${name}, ${String(charge[name])}, is not a whole number below 2^53`;
    }
  }
  const { input, output } = charge.maxRates ?? { input: 0, output: 0 };
  if (!isCount(input) || !isCount(output)) {
    return "its maxRates are no whole numbers below 2^53";
  }
  const { inputTokens, outputTokens } = charge.admitted ?? { inputTokens: 0, outputTokens: 0 };
  if (!isCount(inputTokens) || !isCount(outputTokens)) {
    return "the tokens that it was admitted with are no whole numbers below 2^53";
  }
  return Number.isFinite(charge.settledAt) ? undefined : "its settledAt is no time";
}

function findLineFault({ lines }: Charge): string | undefined {
  if (!Array.isArray(lines)) {
    return "it has no lines";
  }
  return lines.every(isLine) ? undefined : "one of its lines is none";
}

function isLine(line: Partial<ChargeLine> | null | undefined): boolean {
  const { sliceId, lotId, inputTokens, outputTokens, inputRate, outputRate, cost } = line ?? {};
  const counts = [inputTokens, outputTokens, inputRate, outputRate, cost];
  return uuid.test(String(sliceId)) && uuid.test(String(lotId)) && counts.every(isCount);
}

/**
 * Returns the tokens to charge for an engine's counts: the counts themselves, when a receipt can hold them and their
 * cost. A count that no receipt can hold (a fraction, below zero, beyond what money can express) is charged as at most
 * the admitted tokens.
 */
export function toChargeable(counted: ChargedTokens, admitted: ChargedTokens, rates: Rates): ChargedTokens {
  const { inputTokens, outputTokens } = counted;
  if (isCount(inputTokens) && isCount(outputTokens) && costOf(counted, rates) <= maxAmount) {
    return counted;
  }
  return {
    inputTokens: bounded(inputTokens, admitted.inputTokens),
    outputTokens: bounded(outputTokens, admitted.outputTokens),
  };
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function bounded(count: number, most: number): number {
  return count > 0 ? Math.min(Math.floor(count), most) : 0;
}
