import { create, isFieldSet, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type KeyLimits, KeyLimitsSchema } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { formatUsd } from "../money/money.ts";
import { type BudgetPeriod, readWiredPeriod, toWiredPeriod } from "./budget-period.ts";
import { classMeaning, readWiredClass, type ServiceClass, toWiredClass } from "./service-class.ts";

/** A limit of a key, by its name in the contract's types. */
export type LimitField = Exclude<keyof KeyLimits, "$typeName" | "$unknown">;

/** The kinds of limits: the value that the program holds, and the one that documents show. */
interface Kinds {
  count: { readonly held: number; readonly shown: number };
  usd: { readonly held: number; readonly shown: string };
  period: { readonly held: BudgetPeriod; readonly shown: string };
  class: { readonly held: ServiceClass; readonly shown: string };
  time: { readonly held: Date; readonly shown: string };
  models: { readonly held: readonly string[]; readonly shown: readonly string[] };
}
export type LimitKind = keyof Kinds;

interface LimitRow {
  readonly kind: LimitKind;
  /** Its name in the chat surface's messages; so are `--in-flight` and `"in_flight"` written, too. */
  readonly name: string;
  /** What it bounds, for the command line. */
  readonly help: string;
  /** Its name in the console. */
  readonly label: string;
  /** What the console shows in its field where there is no such limit. */
  readonly none: string;
  /** What a count counts, in the console's tables. */
  readonly unit?: string;
}

/** Every limit of the contract. Its bounds are in the contract, its column in src/storage/entities/key-limits.ts. */
export const keyLimits = {
  models: {
    kind: "models",
    name: "models",
    help: 'the only models that it may use, with commas between; "" lifts it',
    label: "Models",
    none: "all that are served",
  },
  rpm: {
    kind: "count",
    name: "rpm",
    help: "requests a minute for this key alone; the account's tier decides unless set",
    label: "Requests a minute",
    none: "as its account",
    unit: "requests/min",
  },
  tokensPerMinute: {
    kind: "count",
    name: "tpm",
    help: "tokens in any 60 seconds; 0 or none lifts it",
    label: "Tokens a minute",
    none: "no limit",
    unit: "tokens/min",
  },
  maxInFlight: {
    kind: "count",
    name: "inFlight",
    help: "requests that it may run at once; 0 or none lifts it",
    label: "Requests at once",
    none: "as its account",
    unit: "at once",
  },
  budgetPicoUsd: {
    kind: "usd",
    name: "usd",
    help: "what it may spend in a period, in exact decimal USD; 0 or none lifts it",
    label: "Budget",
    none: "none",
  },
  budgetPeriod: {
    kind: "period",
    name: "per",
    help: "how often the budget begins anew, in UTC; total unless set: never",
    label: "Budget for",
    none: "",
  },
  serviceClass: {
    kind: "class",
    name: "class",
    help: `${classMeaning} none: its account's`,
    label: "Class",
    none: "as its account",
  },
  expiresAt: {
    kind: "time",
    name: "expires",
    help: "when it stops working, such as 30d or 2026-01-31T12:00:00Z; none: never",
    label: "Works until",
    none: "never expires",
  },
} as const satisfies Record<LimitField, LimitRow>;

/** The limits in the table's order. */
export const limitEntries = Object.entries(keyLimits) as readonly (readonly [LimitField, LimitRow])[];

type Table = typeof keyLimits;
type Held<Field extends LimitField> = Kinds[Table[Field]["kind"]]["held"];

/** Limits as the program holds them. Null: there is no such limit. Undefined: it is not spoken of. */
export type LimitValues = { readonly [Field in LimitField]?: Held<Field> | null | undefined };

/** Limits as documents show them, by their names there. Undefined: there is no such limit. */
export type ShownLimits = {
  readonly [Field in LimitField as Table[Field]["name"]]?: Kinds[Table[Field]["kind"]]["shown"];
};

interface Kind<Field extends LimitField, Name extends LimitKind> {
  /** Reads a value that is set. Undefined: one of a newer client. */
  readonly read: (wired: NonNullable<KeyLimits[Field]>) => Kinds[Name]["held"] | undefined;
  readonly write: (held: Kinds[Name]["held"]) => NonNullable<KeyLimits[Field]>;
  readonly show: (held: Kinds[Name]["held"]) => Kinds[Name]["shown"];
}

type FieldsOf<Name extends LimitKind> = {
  [Field in LimitField]: Table[Field]["kind"] extends Name ? Field : never;
}[LimitField];

const same = <T>(value: T) => value;

const kinds: { readonly [Name in LimitKind]: Kind<FieldsOf<Name>, Name> } = {
  count: { read: same, write: same, show: same },
  usd: { read: Number, write: BigInt, show: (pico) => formatUsd(BigInt(pico)) },
  period: { read: readWiredPeriod, write: toWiredPeriod, show: same },
  class: { read: readWiredClass, write: toWiredClass, show: same },
  time: { read: timestampDate, write: (at) => ({ ...timestampFromDate(at) }), show: (at) => at.toISOString() },
  models: { read: same, write: (ids) => [...ids], show: same },
};

// The compiler sees each kind's functions with values of that kind above, and no kinds apart below.
type AnyKind = Record<"read" | "write" | "show", (value: unknown) => unknown>;
const kindOf = (field: LimitField) => kinds[keyLimits[field].kind] as unknown as AnyKind;

/** No limits at all. */
export const noLimits = readLimits(undefined);

/** Reads limits of the contract. */
export function readLimits(wired: KeyLimits | undefined) {
  const message = wired ?? create(KeyLimitsSchema);
  const read = ([field]: (typeof limitEntries)[number]) =>
    isLimited(message, field) ? (kindOf(field).read(message[field]) ?? null) : null;
  return Object.fromEntries(limitEntries.map((entry) => [entry[0], read(entry)])) as {
    readonly [Field in LimitField]: Held<Field> | null;
  };
}

/** Writes limits in the contract's form. */
export function writeLimits(limits: LimitValues): MessageInitShape<typeof KeyLimitsSchema> {
  return mapHeld(limits, (field, value) => [field, kindOf(field).write(value)]);
}

/** Shows limits as documents do. */
export function showLimits(limits: LimitValues): ShownLimits {
  return mapHeld(limits, (field, value) => [keyLimits[field].name, kindOf(field).show(value)]);
}

/** The limits that there are, without those that there are not. */
export function heldLimits(limits: LimitValues): { readonly [Field in LimitField]?: Held<Field> } {
  return mapHeld(limits, (field, value) => [field, value]);
}

/** Whether a message of the contract has a limit. */
export function isLimited(message: KeyLimits | undefined, field: LimitField): boolean {
  return message !== undefined && isFieldSet(message, KeyLimitsSchema.field[field]);
}

/** A limit's name in the update mask of a request. */
export function limitPath(field: LimitField): string {
  return `limits.${KeyLimitsSchema.field[field].name}`;
}

function mapHeld(limits: LimitValues, map: (field: LimitField, value: unknown) => readonly [string, unknown]) {
  const held = limitEntries.filter(([field]) => limits[field] !== null && limits[field] !== undefined);
  return Object.fromEntries(held.map(([field]) => map(field, limits[field])));
}
