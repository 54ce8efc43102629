import type { Charge, ChargeLine } from "../model/charges/charge.ts";
import { isFact, lineColumns, usageColumns, type Value } from "./usage-columns.ts";

/** Charges as one list of values, which passes between threads at half the cost of objects with names. */
export type FlatCharges = readonly Value[];

/** Writes charges value by value, each followed by the number of its lines and their values. */
export function flatten(charges: readonly Charge[]): FlatCharges {
  const values: Value[] = [];
  for (const charge of charges) {
    for (const column of usageColumns) {
      values.push(column.read(charge));
    }
    values.push(charge.lines.length);
    for (const line of charge.lines) {
      for (const column of lineColumns) {
        values.push(column.read(line));
      }
    }
  }
  return values;
}

/** The columns of a receipt in order, and whether each is a fact of the run. */
const places = usageColumns.map(({ property }) => ({ property, isFact: isFact(property) }));

/** Reads charges that `flatten` wrote. */
export function unflatten(values: FlatCharges): Charge[] {
  const charges: Charge[] = [];
  let at = 0;
  while (at < values.length) {
    const row: Record<string, Value> = {};
    const facts: Record<string, Value> = {};
    for (const { property, isFact } of places) {
      const value = values[at++] as Value;
      if (value !== null) {
        (isFact ? facts : row)[property] = value;
      }
    }
    const { maxInputRate, maxOutputRate, admittedInputTokens, admittedOutputTokens, ...charge } = row;
    const lines: ChargeLine[] = Array.from({ length: values[at++] as number }, () => {
      const line = Object.fromEntries(lineColumns.map(({ property }) => [property, values[at++] as Value]));
      return line as unknown as ChargeLine;
    });
    charges.push({
      ...charge,
      ...(maxInputRate !== undefined && { maxRates: { input: maxInputRate, output: maxOutputRate } }),
      ...(admittedInputTokens !== undefined && {
        admitted: { inputTokens: admittedInputTokens, outputTokens: admittedOutputTokens },
      }),
      ...(Object.keys(facts).length > 0 && { facts }),
      lines,
    } as unknown as Charge);
  }
  return charges;
}
