import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import {
  keyLimits,
  type LimitField,
  type LimitKind,
  type LimitValues,
  limitEntries,
  limitPath,
  noLimits,
  readLimits,
  writeLimits,
} from "../../../lib/limits/key-limits.ts";
import { formatUsd } from "../../../lib/money/money.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";
import { readUsd, readWhole } from "../forms/typed.ts";

/**
 * Limits as they are typed. Empty: the key has no limit of its own. A time is in the reader's zone, in the format of a
 * browser's date-and-time field; models are a line each.
 */
export type LimitTexts = Readonly<Record<LimitField, string>>;

/** How a limit of each kind is typed. */
interface Form {
  readonly write: (value: never) => string;
  /** Undefined: the text is empty. Throws an error that names the limit. */
  readonly read: (text: string, label: string) => unknown;
}

const asIs = { write: (word: string) => word, read: (text: string) => text || undefined };

const forms: Readonly<Record<LimitKind, Form>> = {
  count: { write: String, read: readWhole },
  usd: { write: (pico: number) => formatUsd(BigInt(pico)), read: readPico },
  period: asIs,
  class: asIs,
  time: { write: toLocalTime, read: fromLocalTime },
  models: { write: (ids: readonly string[]) => ids.join("\n"), read: readLines },
};

export const emptyLimits = toTexts(noLimits);

/** The current limits of a key, for editing. */
export function fromKey(key: ApiKey): LimitTexts {
  return toTexts(readLimits(key.limits));
}

/** The limits in the contract's form. Empty fields are left out. Throws an error that names an invalid field. */
export function toLimits(texts: LimitTexts) {
  const read = ([field, { kind, label }]: (typeof limitEntries)[number]) => [
    field,
    forms[kind].read(texts[field], label),
  ];
  const limits: LimitValues = Object.fromEntries(limitEntries.map(read));
  return writeLimits(limits.budgetPicoUsd === undefined ? { ...limits, budgetPeriod: undefined } : limits);
}

/** The contract's names of the changed limits. Unchanged limits stay, even where somebody else has changed them. */
export function findChanged(before: LimitTexts, after: LimitTexts): string[] {
  const changed = new Set(limitEntries.map(([field]) => field).filter((field) => before[field] !== after[field]));
  // A budget and its period are one thing to people.
  if (after.budgetPicoUsd.trim() === "") {
    changed.delete("budgetPeriod");
  } else if (changed.has("budgetPicoUsd") || changed.has("budgetPeriod")) {
    changed.add("budgetPicoUsd").add("budgetPeriod");
  }
  return [...changed].map(limitPath);
}

/** The lines of a text. */
export function readLines(text: string): readonly string[] | undefined {
  return text === "" ? undefined : text.split("\n");
}

function toTexts(limits: LimitValues): LimitTexts {
  const text = (field: LimitField) => {
    const value = limits[field] ?? undefined;
    return value === undefined ? "" : forms[keyLimits[field].kind].write(value as never);
  };
  const texts = Object.fromEntries(limitEntries.map(([field]) => [field, text(field)])) as LimitTexts;
  return { ...texts, budgetPeriod: texts.budgetPeriod || "month" };
}

function readPico(text: string, label: string): number | undefined {
  const pico = readUsd(text, `The ${label.toLowerCase()}`);
  return pico === undefined ? undefined : Number(pico);
}
