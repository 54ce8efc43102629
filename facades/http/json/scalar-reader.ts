import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { JsonField } from "#gen/tollgate/facade/v1/json_pb.js";
import { type JsonObject, kindOfJson } from "./json-kind.ts";
import { readStrings } from "./options.ts";
import type { JsonPath } from "./path.ts";
import { listed } from "./words.ts";

/** The most levels of JSON text that is passed on unread. */
const maxTextDepth = 128;

/** The largest double that an int64 can hold. Larger numbers are reduced to it. */
const int64Bound = 2 ** 63 - 1024;

/** The largest number that a uint32 can hold. Larger ones are reduced to it: clients that mean "no bound" send them. */
const uint32Bound = 2 ** 32 - 1;

/** Reads one value that is not null. `path` is its position. */
export type Read = (json: unknown, path: JsonPath) => unknown;

/** Reads the only value that a field accepts. Undefined: the field accepts any. */
export function onlyReader(rules: JsonField | undefined): Read | undefined {
  if (!rules?.only) {
    return undefined;
  }
  const only: unknown = JSON.parse(rules.only);
  const reason = `must be ${rules.only}${rules.advice === "" ? "" : `: ${rules.advice}`}`;
  return (json, path) => {
    if (!isOnly(json, only)) {
      throw path.error(reason);
    }
    return rules.jsonText ? rules.only : json;
  };
}

/** Whether a value is the accepted one. An accepted array or object is empty. */
function isOnly(json: unknown, only: unknown): boolean {
  if (only === null || typeof only !== "object") {
    return json === only;
  }
  return kindOfJson(json) === kindOfJson(only) && Object.keys(json as object).length === 0;
}

/** Creates the reader of an enum, JSON text or a scalar. */
export function scalarReader(field: DescField, rules: JsonField | undefined): Read {
  if (field.enum !== undefined) {
    const numbers = new Map([...readStrings(field.enum)].map(([number, name]) => [name as unknown, number]));
    const allowed = listed([...numbers.keys()].map((name) => JSON.stringify(name)));
    return (json, path) => {
      const number = numbers.get(json);
      if (number === undefined) {
        throw path.error(`must be ${allowed}`);
      }
      return number;
    };
  }
  if (rules?.jsonText) {
    return readJsonText;
  }
  if (rules?.numberText) {
    return readNumberText;
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return stringReader(rules);
    case ScalarType.BOOL:
      return (json, path) => {
        if (typeof json !== "boolean") {
          throw path.error("must be a boolean");
        }
        return json;
      };
    case ScalarType.DOUBLE:
      return numberReader("must be a number", Number.isFinite, rules?.minimum, rules?.maximum, rules?.above);
    case ScalarType.INT32:
      return numberReader(
        "must be an integer",
        Number.isInteger,
        rules?.minimum ?? -(2 ** 31),
        rules?.maximum ?? 2 ** 31 - 1,
      );
    case ScalarType.UINT32: {
      const read = numberReader("must be an integer", Number.isInteger, rules?.minimum ?? 0, rules?.maximum);
      return (json, path) => Math.min(uint32Bound, read(json, path) as number);
    }
    case ScalarType.INT64: {
      const read = numberReader("must be an integer", Number.isInteger, rules?.minimum, rules?.maximum);
      return (json, path) => BigInt(Math.max(-int64Bound, Math.min(int64Bound, read(json, path) as number)));
    }
    default:
      throw new Error(`${field}: this scalar is not used on an HTTP surface`);
  }
}

/** A number as text, with all the digits that its sender wrote: a double does not hold every amount. */
function readNumberText(json: unknown, path: JsonPath): string {
  if (typeof json !== "number") {
    throw path.error("must be a number");
  }
  return JSON.stringify(path.exactValue() ?? json);
}

function stringReader(rules: JsonField | undefined): Read {
  const least = rules?.minLength ?? 0;
  const wrongKind = rules?.advice ? `must be a string: ${rules.advice}` : "must be a string";
  return (json, path) => {
    if (typeof json !== "string") {
      throw path.error(wrongKind);
    }
    if (json.length < least) {
      throw path.error(least === 1 ? "must not be empty" : `must have at least ${least} characters`);
    }
    // Half of a surrogate pair, from a client that cut a string in the middle, is not text.
    return json.isWellFormed() ? json : json.toWellFormed();
  };
}

function numberReader(
  wrongKind: string,
  isRight: (json: unknown) => boolean,
  least = -Infinity,
  most = Infinity,
  above = -Infinity,
): Read {
  const only = least === most;
  return (json, path) => {
    if (!isRight(json)) {
      throw path.error(wrongKind);
    }
    const number = json as number;
    if (number < least) {
      throw path.error(only ? `must be ${least}` : `must be at least ${least}`);
    }
    if (number <= above) {
      throw path.error(`must be above ${above}`);
    }
    if (number > most) {
      throw path.error(only ? `must be ${most}` : `must be at most ${most}`);
    }
    return number;
  };
}

function readJsonText(json: unknown, path: JsonPath): string {
  const look = new Look();
  if (look.isDeeperThan(json, maxTextDepth)) {
    throw path.error(`must not be nested deeper than ${maxTextDepth} levels`);
  }
  return JSON.stringify((look.hasRounded && path.exactValue()) || json);
}

/** One look through JSON that is passed on. */
class Look {
  /** Whether a number may be another one than its text. */
  hasRounded = false;

  isDeeperThan(json: unknown, levels: number): boolean {
    if (json === null || typeof json !== "object") {
      this.hasRounded ||= typeof json === "number" && isRounded(json);
      return false;
    }
    if (levels === 0) {
      return true;
    }
    for (const key in json) {
      if (this.isDeeperThan((json as JsonObject)[key], levels - 1)) {
        return true;
      }
    }
    return false;
  }
}

/** Whether a number's text may have had digits that a double does not hold. */
function isRounded(value: number): boolean {
  return Number.isInteger(value) ? !Number.isSafeInteger(value) : String(value).length > 16 || !Number.isFinite(value);
}
