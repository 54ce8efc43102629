import type { Charge, ChargeLine } from "../ledger-store.ts";

/**
 * A group of charges as the columns that the settle statement takes, in its order. They are written as array literals
 * here: the driver's own way, element by element, takes longer than all else that a settlement does in this process.
 */
export function settleValues(charges: readonly Charge[]): string[] {
  const places: number[] = [];
  const seqs: number[] = [];
  const lines: ChargeLine[] = [];
  for (const [at, charge] of charges.entries()) {
    for (const [seq, line] of charge.lines.entries()) {
      places.push(at + 1);
      seqs.push(seq);
      lines.push(line);
    }
  }
  return [
    texts(charges.map((charge) => charge.requestId)),
    plain(charges.map((charge) => charge.runId)),
    plain(charges.map((charge) => charge.accountId)),
    texts(charges.map((charge) => charge.keyId)),
    texts(charges.map((charge) => charge.model)),
    plain(charges.map((charge) => charge.inputTokens)),
    plain(charges.map((charge) => charge.outputTokens)),
    plain(charges.map((charge) => charge.cost)),
    plain(charges.map((charge) => charge.shortfall)),
    plain(charges.map((charge) => charge.status)),
    plain(charges.map((charge) => charge.settledAt)),
    plain(places),
    plain(seqs),
    plain(lines.map((line) => line.lotId)),
    plain(lines.map((line) => line.sliceId)),
    plain(lines.map((line) => line.inputTokens)),
    plain(lines.map((line) => line.outputTokens)),
    plain(lines.map((line) => line.inputRate)),
    plain(lines.map((line) => line.outputRate)),
    plain(lines.map((line) => line.cost)),
    plain(charges.map((charge) => charge.maxRates?.input ?? "null")),
    plain(charges.map((charge) => charge.maxRates?.output ?? "null")),
  ];
}

/** An array of numbers, identifiers and other words that need no quotes. */
function plain(values: readonly (string | number)[]): string {
  return `{${values.join()}}`;
}

/** An array of any texts. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function texts(values: readonly string[]): string {
  return `{${values.map((value) => `"${SPECIAL.test(value) ? value.replaceAll(/["\\]/g, "\\$&") : value}"`).join()}}`;
}

const SPECIAL = /["\\]/;
