// The one description of how a receipt is stored. Everything that writes receipts is built from the entities here,
// once, at load.

import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { Charge, ChargeLine } from "../model/charges/charge.ts";
import type { RunFacts } from "../model/charges/settlement.ts";

/** A column's value on its way to the database. Null: absent. */
export type Value = string | number | null;

/** A column of a row made from a charge or from a line of a charge. */
export interface Column<From> {
  /** Its name in the entity. */
  readonly property: string;
  /** Its name in the database. */
  readonly name: string;
  /** PostgreSQL's type of the parameter that carries it. Times are milliseconds since the epoch. */
  readonly type: "text" | "uuid" | "bigint" | "float8";
  readonly read: (from: From) => Value;
}

/** The parameter type for each of the entities' types. */
const types: Readonly<Record<string, Column<never>["type"]>> = {
  StringType: "text",
  TextType: "text",
  UuidType: "uuid",
  BigIntType: "bigint",
  DateTimeType: "float8",
};

type ReadCharge = (charge: Charge) => Value;

/** Reads each fact of a run for the column of the same name. A fact without a column does not compile. */
const facts: Readonly<Record<keyof Pick<Usage, keyof RunFacts>, ReadCharge>> = {
  finish: ({ facts }) => facts?.finish ?? null,
  delivery: ({ facts }) => facts?.delivery ?? null,
  firstTokenMs: ({ facts }) => facts?.firstTokenMs ?? null,
  durationMs: ({ facts }) => facts?.durationMs ?? null,
  reasoningTokens: ({ facts }) => facts?.reasoningTokens ?? null,
  cachedInputTokens: ({ facts }) => facts?.cachedInputTokens ?? null,
  server: ({ facts }) => facts?.server ?? null,
  surface: ({ facts }) => facts?.surface ?? null,
};

/** True for a column that holds a fact of the run. */
export const isFact = (property: string): boolean => Object.hasOwn(facts, property);

/** The parts of a charge that are stored in columns of other names, in rows of their own, or not at all. */
type ChargeParts = "maxRates" | "admitted" | "facts" | "lines" | "told";

/** The columns of a receipt. */
export const usageColumns: readonly Column<Charge>[] = describe<Usage, Charge, ChargeParts>(Usage.meta.properties, {
  maxInputRate: ({ maxRates }) => maxRates?.input ?? null,
  maxOutputRate: ({ maxRates }) => maxRates?.output ?? null,
  admittedInputTokens: ({ admitted }) => admitted?.inputTokens ?? null,
  admittedOutputTokens: ({ admitted }) => admitted?.outputTokens ?? null,
  ...facts,
});

const lineKey = ["requestId", "runId", "seq"] as const;

/** The columns of a receipt's line, without those of its key: the receipt's key and the line's number. */
export const lineColumns: readonly Column<ChargeLine>[] = describe<
  Omit<UsageLine, (typeof lineKey)[number]>,
  ChargeLine
>(
  Object.fromEntries(
    Object.entries(UsageLine.meta.properties).filter(([property]) => !lineKey.includes(property as never)),
  ),
  {},
);

/** Names of columns, as a statement lists them. */
export const listNames = (columns: readonly { readonly name: string }[]): string =>
  columns.map(({ name }) => name).join(", ");

/**
 * Pairs each column with the property of the same name, or with a reader in `made`. Each property needs a column of the
 * same name, unless it is one of the parts that are stored otherwise. Anything else does not compile.
 */
function describe<Row extends Record<Exclude<keyof From, Parts>, unknown>, From, Parts = never>(
  properties: object,
  made: { readonly [Name in Exclude<Extract<keyof Row, string>, keyof From>]: (from: From) => Value },
): readonly Column<From>[] {
  const others = made as Readonly<Record<string, (from: From) => Value>>;
  return Object.entries(properties).map(([property, { type }]) => ({
    property,
    name: property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type: readType(type),
    read: others[property] ?? ((from) => (from[property as keyof From] ?? null) as Value),
  }));
}

/** An entity's type is a class or an instance of one. An enumeration has none. */
function readType(type: unknown): Column<never>["type"] {
  const name = typeof type === "function" ? type.name : (type?.constructor.name ?? "StringType");
  const found = types[name];
  if (found === undefined) {
    throw new Error(`no parameter carries a ${name}`);
  }
  return found;
}
