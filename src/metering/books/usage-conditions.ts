import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Conditions of a query and their parameters. */
export class Conditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  /** A condition of SQL with a `?` for each parameter. */
  add(condition: string, ...parameters: unknown[]): void {
    this.#conditions.push(condition);
    this.parameters.push(...parameters);
  }

  /** The clause; empty without conditions. */
  get where(): string {
    return this.#conditions.length === 0 ? "" : `where ${this.#conditions.join(" and ")}`;
  }
}

/** Conditions that select receipts and usage. */
export interface UsageFilter {
  /** A UUID. Empty: all accounts. */
  readonly accountId: string;
  /** Empty: all keys. */
  readonly keyId: string;
  /** Empty: all models. */
  readonly model: string;
  /** Settled at or after. */
  readonly from?: Timestamp | undefined;
  /** Settled before. */
  readonly to?: Timestamp | undefined;
}

/** Conditions on the table of receipts. */
export function usageConditions({ accountId, keyId, model, from, to }: UsageFilter): Conditions {
  const conditions = new Conditions();
  if (accountId !== "") {
    conditions.add("account_id = ?", accountId);
  }
  if (keyId !== "") {
    conditions.add("key_id = ?", keyId);
  }
  if (model !== "") {
    conditions.add("model = ?", model);
  }
  if (from !== undefined) {
    conditions.add("settled_at >= ?", timestampDate(from));
  }
  if (to !== undefined) {
    conditions.add("settled_at < ?", timestampDate(to));
  }
  return conditions;
}
