import { createHmac, hkdfSync } from "node:crypto";
import type { Pepper } from "#lib/ids/pepper.ts";
import type { Clock } from "#lib/time/clock.ts";
import { isLabelValue, otherValue } from "../model/charges/labels.ts";
import { DayValues, type UsedValue } from "./day-values.ts";

/** Characters of a hashed value: 132 bits. */
const hashLength = 22;

/** A label that receipts are given. */
export interface KeptLabel {
  readonly name: string;
  /** Whether the value is stored as a keyed hash. */
  readonly hash: boolean;
}

/** Why a value was recorded as "other". */
export type OtherReason = "values" | "form";

/** Counts values that were recorded as "other". */
export type LabelObserver = (name: string, reason: OtherReason) => void;

/** Turns what clients say of who uses the service into the labels of receipts. */
export interface Labels {
  /** The labels of a request as its charge has them. Undefined: none. `stated`: values by name, of any form and number. */
  settle(accountId: string, stated: Readonly<Record<string, string>>): string | undefined;
}

interface Dependencies {
  readonly kept: readonly KeptLabel[];
  /** The most values of a label, in a day and an account. */
  readonly valuesPerDay: number;
  /** The newest of them keys the hashes. */
  readonly peppers: readonly [Pepper, ...Pepper[]];
  readonly clock: Pick<Clock, "now">;
  readonly observe: LabelObserver;
}

/** The labels of the configuration. Only they are kept, and nothing else of what is stated. */
export class ConfiguredLabels implements Labels {
  readonly #parts: Dependencies;
  readonly #values: DayValues;
  readonly #key: Uint8Array;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#values = new DayValues(parts.valuesPerDay);
    this.#key = Buffer.from(hkdfSync("sha256", parts.peppers[0].secret, "", "tollgate label values", 32));
  }

  settle(accountId: string, stated: Readonly<Record<string, string>>): string | undefined {
    let labels: Record<string, string> | undefined;
    for (const label of this.#parts.kept) {
      const value = stated[label.name];
      if (typeof value === "string" && value !== "") {
        labels ??= {};
        labels[label.name] = this.#toKept(accountId, label, value);
      }
    }
    return labels && JSON.stringify(labels);
  }

  /** Notes values that are stored already: the bound holds for all cores together. */
  learn(values: readonly UsedValue[]): void {
    this.#values.learn(values, this.#parts.clock.now());
  }

  #toKept(accountId: string, { name, hash }: KeptLabel, stated: string): string {
    const { clock, observe } = this.#parts;
    const value = hash ? this.#hash(accountId, name, stated) : stated.trim();
    if (!isLabelValue(value)) {
      observe(name, "form");
      return otherValue;
    }
    if (value !== otherValue && !this.#values.take({ accountId, name, value }, clock.now())) {
      observe(name, "values");
      return otherValue;
    }
    return value;
  }

  /** The same person has another hash in each account, so that accounts cannot compare whom they serve. */
  #hash(accountId: string, name: string, value: string): string {
    const text = `${accountId}\0${name}\0${value}`;
    return createHmac("sha256", this.#key).update(text).digest("base64url").slice(0, hashLength);
  }
}
