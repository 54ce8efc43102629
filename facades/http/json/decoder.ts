import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import type { JsonField } from "#gen/tollgate/facade/v1/json_pb.js";
import { asObject, type Kind, kindOfJson, nameKind } from "./json-kind.ts";
import { ignoresUnknownTags, isImplicit, readKey, readList, readRules, readShape, readUnion } from "./options.ts";
import { JsonPath } from "./path.ts";
import { onlyReader, type Read, scalarReader } from "./scalar-reader.ts";
import { listed, quoted } from "./words.ts";

/** The most items of an array, unless tollgate.facade.v1 sets another bound. */
const maxItems = 10_000;
/** How to read one field of an object, compiled once. */
interface FieldPlan {
  readonly property: string;
  readonly key: string;
  readonly read: Read;
  readonly required: boolean;
  /** A number that counts as absent, or null: there is none. */
  readonly unset: number | null;
  /** The kind of value beside which the field counts as absent. Undefined: another kind is refused. */
  readonly lenient: Kind | undefined;
  /** The value that null stands for. Undefined: null counts as absent. */
  readonly cleared: string | number | undefined;
  /** Creates the value of an absent field. Undefined: the property is left out. */
  readonly absent: (() => unknown) | undefined;
}

const readers = new WeakMap<DescMessage, Read>();

/**
 * Creates the function that reads messages of one type from the JSON of an HTTP surface, by the options of
 * tollgate.facade.v1. Unknown keys are ignored, and null means absent, unless a field says otherwise. Throws RequestError 400 with the field's path.
 * With the body that the JSON was parsed from, JSON that is passed on as text keeps numbers that a double does not hold.
 */
export function jsonDecoder<Desc extends DescMessage>(
  desc: Desc,
): (json: unknown, body?: string) => MessageShape<Desc> {
  const read = compileReader(desc);
  return (json, body) => read(json, new JsonPath(body)) as MessageShape<Desc>;
}

function compileReader(desc: DescMessage): Read {
  const known = readers.get(desc);
  if (known !== undefined) {
    return known;
  }
  // A message may contain itself, so the entry must exist before its fields are compiled.
  let read!: Read;
  readers.set(desc, (json, path) => read(json, path));
  read = compile(desc);
  readers.set(desc, read);
  return read;
}

function compile(desc: DescMessage): Read {
  const shape = readShape(desc);
  switch (shape.case) {
    case "untagged":
      return untaggedReader(desc);
    case "taggedBy":
      return taggedReader(desc, shape.value);
    case "unwrapped": {
      const field = readList(desc);
      const read = valueReader(field);
      return (json, path) => ({ $typeName: desc.typeName, [field.localName]: read(json, path) });
    }
    case undefined:
      return objectReader(desc);
  }
}

function objectReader(desc: DescMessage): Read {
  const fields = desc.fields.map(compilePlan);
  return (json, path) => {
    const object = asObject(json, path);
    const message: Record<string, unknown> = { $typeName: desc.typeName };
    for (const field of fields) {
      const value = object[field.key];
      if (value !== undefined && value !== null && value !== field.unset && !isPassedOver(field, value)) {
        path.push(field.key);
        message[field.property] = field.read(value, path);
        path.pop();
      } else {
        leaveOut(message, field, value, path);
      }
    }
    return message;
  };
}

function isPassedOver({ lenient }: FieldPlan, value: unknown): boolean {
  return lenient !== undefined && kindOfJson(value) !== lenient;
}

/** Reads a field that is absent or null. Throws RequestError 400 for a required one. */
function leaveOut(message: Record<string, unknown>, field: FieldPlan, value: unknown, path: JsonPath): void {
  if (value === null && field.cleared !== undefined) {
    message[field.property] = field.cleared;
  } else if (field.required) {
    path.push(field.key);
    throw path.error("is required");
  } else if (field.absent !== undefined) {
    message[field.property] = field.absent();
  }
}

function compilePlan(field: DescField): FieldPlan {
  if (field.oneof !== undefined) {
    throw new Error(`${field}: a oneof needs a message that is a union`);
  }
  const rules = readRules(field);
  return {
    property: field.localName,
    key: readKey(field),
    read: valueReader(field),
    required: rules?.required ?? false,
    unset: rules?.unset ?? null,
    lenient: rules?.lenient ? nameKind(field) : undefined,
    cleared: rules?.nullClears ? (field.enum === undefined ? "" : 0) : undefined,
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
  const union = readUnion(desc);
  const members = union.fields.map((field) => ({
    case: field.localName,
    kind: nameKind(field),
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
  const union = readUnion(desc);
  const members = new Map(
    union.fields.map((field) => [readKey(field), { case: field.localName, read: valueReader(field) }] as const),
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
  const rules = readRules(field);
  if (rules?.refused) {
    const reason = rules.refused;
    return (_json, path) => {
      throw path.error(reason);
    };
  }
  if (field.fieldKind === "map") {
    throw new Error(`${field}: maps are not used on an HTTP surface`);
  }
  const read = onlyReader(rules) ?? itemReader(field, rules);
  return field.fieldKind === "list" ? listReader(read, rules) : read;
}

function listReader(read: Read, rules: JsonField | undefined): Read {
  const least = rules?.minItems ?? 0;
  const most = rules?.maxItems ?? maxItems;
  return (json, path) => {
    if (!Array.isArray(json)) {
      throw path.error("must be an array");
    }
    if (json.length < least) {
      throw path.error(json.length === 0 ? "must not be empty" : `must have at least ${least} items`);
    }
    if (json.length > most) {
      // The first item is read before: a wrong kind of item is the more useful message.
      readItems(json.slice(0, 1), read, path);
      throw path.error(`must have at most ${most} item${most === 1 ? "" : "s"}`);
    }
    return readItems(json, read, path);
  };
}

function readItems(json: readonly unknown[], read: Read, path: JsonPath): unknown[] {
  const items: unknown[] = [];
  for (let i = 0; i < json.length; i++) {
    path.push(i);
    items.push(read(json[i], path));
    path.pop();
  }
  return items;
}

function itemReader(field: DescField, rules: JsonField | undefined): Read {
  if (field.message !== undefined) {
    return compileReader(field.message);
  }
  return scalarReader(field, rules);
}
