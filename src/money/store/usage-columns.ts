// The one description of how a receipt is stored. Everything that writes receipts is built from it, once, at load. Of the
// entities it takes their types alone: the thread that writes SQLite's ledger would load the whole ORM with them.

import type { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
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

/** The parameter type of each of a row's columns. A column of the entity that is not here does not compile. */
type Types<Row> = Readonly<Record<Extract<keyof Row, string>, Column<never>["type"]>>;

const usageTypes: Types<Usage> = {
  requestId: "text",
  runId: "uuid",
  accountId: "uuid",
  keyId: "text",
  model: "text",
  inputTokens: "bigint",
  outputTokens: "bigint",
  cost: "bigint",
  shortfall: "bigint",
  status: "text",
  settledAt: "float8",
  maxInputRate: "bigint",
  maxOutputRate: "bigint",
  admittedInputTokens: "bigint",
  admittedOutputTokens: "bigint",
  finish: "text",
  delivery: "text",
  firstTokenMs: "bigint",
  durationMs: "bigint",
  reasoningTokens: "bigint",
  cachedInputTokens: "bigint",
  server: "text",
  surface: "text",
  budgetSliceId: "uuid",
  labels: "text",
};

/** A line without its key: the receipt's key and the line's number. */
type UsageLineRest = Omit<UsageLine, "requestId" | "runId" | "seq">;

const lineTypes: Types<UsageLineRest> = {
  lotId: "uuid",
  sliceId: "uuid",
  inputTokens: "bigint",
  outputTokens: "bigint",
  inputRate: "bigint",
  outputRate: "bigint",
  cost: "bigint",
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
export const usageColumns: readonly Column<Charge>[] = describe<Usage, Charge, ChargeParts>(usageTypes, {
  maxInputRate: ({ maxRates }) => maxRates?.input ?? null,
  maxOutputRate: ({ maxRates }) => maxRates?.output ?? null,
  admittedInputTokens: ({ admitted }) => admitted?.inputTokens ?? null,
  admittedOutputTokens: ({ admitted }) => admitted?.outputTokens ?? null,
  ...facts,
});

/** The columns of a receipt's line, without those of its key. */
export const lineColumns: readonly Column<ChargeLine>[] = describe<UsageLineRest, ChargeLine>(lineTypes, {});

/** Names of columns, as a statement lists them. */
export const listNames = (columns: readonly { readonly name: string }[]): string =>
  columns.map(({ name }) => name).join(", ");

/**
 * Pairs each column with the property of the same name, or with a reader in `made`. Each property needs a column of the
 * same name, unless it is one of the parts that are stored otherwise. Anything else does not compile.
 */
function describe<Row extends Record<Exclude<keyof From, Parts>, unknown>, From, Parts = never>(
  types: Types<Row>,
  made: { readonly [Name in Exclude<Extract<keyof Row, string>, keyof From>]: (from: From) => Value },
): readonly Column<From>[] {
  const others = made as Readonly<Record<string, (from: From) => Value>>;
  return Object.entries<Column<never>["type"]>(types).map(([property, type]) => ({
    property,
    name: property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type,
    read: others[property] ?? ((from) => (from[property as keyof From] ?? null) as Value),
  }));
}
