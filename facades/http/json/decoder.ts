import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import type { JsonField } from "#gen/tollgate/facade/v1/json_pb.js";
import { ignoresUnknownTags, isImplicit, keyOf, listOf, rulesOf, shapeOf, stringsOf, unionOf } from "./options.ts";
import { JsonPath } from "./path.ts";

/** Items of one array, unless tollgate.facade.v1 says otherwise. */
const maxItems = 10_000;
/** Levels of JSON text that is passed on as it is. */
const maxTextDepth = 128;

/** Reads one value, which is not null; the path says where it stands. */
type Read = (json: unknown, path: JsonPath) => unknown;
type JsonObject = Readonly<Record<string, unknown>>;

/** One field of an object, worked out once. */
interface FieldPlan {
  readonly property: string;
  readonly key: string;
  readonly read: Read;
  readonly required: boolean;
  /** Makes the value of an absent field. Undefined: the property stays away. */
  readonly absent: (() => unknown) | undefined;
}

/** The largest double that an int64 holds; numbers beyond it are as good as it. */
const int64Bound = 2 ** 63 - 1024;

/** Kinds of JSON values, told apart by a union. */
type Kind = "a string" | "a number" | "a boolean" | "an array" | "an object" | "null";

const readers = new WeakMap<DescMessage, Read>();

/**
 * Makes the function that reads messages of one type from the JSON of an HTTP surface, as tollgate.facade.v1
 * says. Unknown keys are ignored and null means absent. Throws RequestError 400 with the field's path.
 */
export function jsonDecoder<Desc extends DescMessage>(desc: Desc): (json: unknown) => MessageShape<Desc> {
  const read = readerOf(desc);
  return (json) => read(json, new JsonPath()) as MessageShape<Desc>;
}

function readerOf(desc: DescMessage): Read {
  const known = readers.get(desc);
  if (known !== undefined) {
    return known;
  }
  // A message may contain itself, so that the entry has to be there before its fields are looked at.
  let read!: Read;
  readers.set(desc, (json, path) => read(json, path));
  read = compile(desc);
  readers.set(desc, read);
  return read;
}

function compile(desc: DescMessage): Read {
  const shape = shapeOf(desc);
  switch (shape.case) {
    case "untagged":
      return untaggedReader(desc);
    case "taggedBy":
      return taggedReader(desc, shape.value);
    case "unwrapped": {
      const field = listOf(desc);
      const read = valueReader(field);
      return (json, path) => ({ $typeName: desc.typeName, [field.localName]: read(json, path) });
    }
    case undefined:
      return objectReader(desc);
  }
}

function objectReader(desc: DescMessage): Read {
  const fields = desc.fields.map(planOf);
  return (json, path) => {
    const object = asObject(json, path);
    const message: Record<string, unknown> = { $typeName: desc.typeName };
    for (const field of fields) {
      const value = object[field.key];
      if (value !== undefined && value !== null) {
        path.push(field.key);
        message[field.property] = field.read(value, path);
        path.pop();
      } else if (field.required) {
        path.push(field.key);
        throw path.error("is required");
      } else if (field.absent !== undefined) {
        message[field.property] = field.absent();
      }
    }
    return message;
  };
}

function planOf(field: DescField): FieldPlan {
  if (field.oneof !== undefined) {
    throw new Error(`${field}: a oneof needs a message that is a union`);
  }
  const rules = rulesOf(field);
  return {
    property: field.localName,
    key: keyOf(field),
    read: valueReader(field),
    required: rules?.required ?? false,
    absent: absentValue(field),
  };
}

function absentValue(field: DescField): (() => unknown) | undefined {
  if (!isImplicit(field)) {
    return undefined;
  }
  if (field.fieldKind === "list") {
    return () => [];
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return () => "";
    case ScalarType.BOOL:
      return () => false;
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return () => 0n;
    default:
      return () => 0;
  }
}

function untaggedReader(desc: DescMessage): Read {
  const union = unionOf(desc);
  const members = union.fields.map((field) => ({
    case: field.localName,
    kind: kindOf(field),
    read: valueReader(field),
  }));
  const allowed = listed(members.map((member) => member.kind));
  return (json, path) => {
    const kind = kindOfJson(json);
    const member = members.find((candidate) => candidate.kind === kind);
    if (member === undefined) {
      throw path.error(`must be ${allowed}`);
    }
    return { $typeName: desc.typeName, [union.localName]: { case: member.case, value: member.read(json, path) } };
  };
}

function taggedReader(desc: DescMessage, tag: string): Read {
  const union = unionOf(desc);
  const members = new Map(
    union.fields.map((field) => [keyOf(field), { case: field.localName, read: valueReader(field) }] as const),
  );
  const allowed = listed([...members.keys()].map((name) => JSON.stringify(name)));
  const lenient = ignoresUnknownTags(desc);
  return (json, path) => {
    const name = asObject(json, path)[tag];
    const member = typeof name === "string" ? members.get(name) : undefined;
    if (member !== undefined) {
      return { $typeName: desc.typeName, [union.localName]: { case: member.case, value: member.read(json, path) } };
    }
    if (lenient && typeof name === "string") {
      return { $typeName: desc.typeName, [union.localName]: { case: undefined } };
    }
    path.push(tag);
    if (name === undefined || name === null) {
      throw path.error("is required");
    }
    throw path.error(`must be ${allowed}${typeof name === "string" ? `; ${quoted(name)} is not supported` : ""}`);
  };
}

function valueReader(field: DescField): Read {
  const rules = rulesOf(field);
  if (rules?.refused) {
    const reason = rules.refused;
    return (_json, path) => {
      throw path.error(reason);
    };
  }
  if (field.fieldKind === "map") {
    throw new Error(`${field}: maps are not used on an HTTP surface`);
  }
  if (field.fieldKind !== "list") {
    return onlyReader(rules) ?? itemReader(field, rules);
  }
  const read = onlyReader(rules) ?? itemReader(field, rules);
  const least = rules?.minItems ?? 0;
  const most = rules?.maxItems ?? maxItems;
  return (json, path) => {
    if (!Array.isArray(json)) {
      throw path.error("must be an array");
    }
    if (json.length < least) {
      throw path.error(json.length === 0 ? "must not be empty" : `must have at least ${least} items`);
    }
    const isTooLong = json.length > most;
    const items: unknown[] = [];
    for (let i = 0; i < (isTooLong ? 1 : json.length); i++) {
      path.push(i);
      items.push(read(json[i], path));
      path.pop();
    }
    // After the first item: that all are of the wrong kind is the better advice.
    if (isTooLong) {
      throw path.error(`must have at most ${most} item${most === 1 ? "" : "s"}`);
    }
    return items;
  };
}

/** Reads the one value that a field takes. Undefined: it takes any. */
function onlyReader(rules: JsonField | undefined): Read | undefined {
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

/** Whether a value is the one that is taken, which has nothing in it when it is an array or an object. */
function isOnly(json: unknown, only: unknown): boolean {
  if (only === null || typeof only !== "object") {
    return json === only;
  }
  return kindOfJson(json) === kindOfJson(only) && Object.keys(json as object).length === 0;
}

function itemReader(field: DescField, rules: JsonField | undefined): Read {
  if (field.message !== undefined) {
    return readerOf(field.message);
  }
  if (field.enum !== undefined) {
    const numbers = new Map([...stringsOf(field.enum)].map(([number, name]) => [name as unknown, number]));
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
      return numberReader("must be a number", Number.isFinite, rules?.minimum, rules?.maximum);
    case ScalarType.INT32:
      return numberReader(
        "must be an integer",
        Number.isInteger,
        rules?.minimum ?? -(2 ** 31),
        rules?.maximum ?? 2 ** 31 - 1,
      );
    case ScalarType.UINT32:
      return numberReader("must be an integer", Number.isInteger, rules?.minimum ?? 0, rules?.maximum ?? 2 ** 32 - 1);
    case ScalarType.INT64: {
      const read = numberReader("must be an integer", Number.isInteger, rules?.minimum, rules?.maximum);
      return (json, path) => BigInt(Math.max(-int64Bound, Math.min(int64Bound, read(json, path) as number)));
    }
    default:
      throw new Error(`${field}: this scalar is not used on an HTTP surface`);
  }
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
    // Half of a surrogate pair, from a client that cut a string in the middle, is no text.
    return json.isWellFormed() ? json : json.toWellFormed();
  };
}

function numberReader(
  wrongKind: string,
  isRight: (json: unknown) => boolean,
  least = -Infinity,
  most = Infinity,
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
    if (number > most) {
      throw path.error(only ? `must be ${most}` : `must be at most ${most}`);
    }
    return number;
  };
}

function readJsonText(json: unknown, path: JsonPath): string {
  if (isDeeperThan(json, maxTextDepth)) {
    throw path.error(`must not be nested deeper than ${maxTextDepth} levels`);
  }
  return JSON.stringify(json);
}

function isDeeperThan(json: unknown, levels: number): boolean {
  if (json === null || typeof json !== "object") {
    return false;
  }
  if (levels === 0) {
    return true;
  }
  for (const key in json) {
    if (isDeeperThan((json as JsonObject)[key], levels - 1)) {
      return true;
    }
  }
  return false;
}

function asObject(json: unknown, path: JsonPath): JsonObject {
  if (kindOfJson(json) !== "an object") {
    throw path.error("must be an object");
  }
  return json as JsonObject;
}

function kindOfJson(json: unknown): Kind {
  if (json === null) {
    return "null";
  }
  if (Array.isArray(json)) {
    return "an array";
  }
  switch (typeof json) {
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    default:
      return "an object";
  }
}

function kindOf(field: DescField): Kind {
  if (field.message !== undefined) {
    return shapeOf(field.message).case === "unwrapped" ? "an array" : "an object";
  }
  if (field.enum !== undefined || field.scalar === ScalarType.STRING) {
    return "a string";
  }
  return field.scalar === ScalarType.BOOL ? "a boolean" : "a number";
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** A name that the caller sent, short enough for a message. */
function quoted(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
