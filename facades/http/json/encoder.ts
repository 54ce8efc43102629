import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { isImplicit, readKey, readList, readRules, readShape, readStrings, readUnion } from "./options.ts";

/** Writes one value as JSON text. */
type Write = (value: never) => string;
type PlainMessage = Readonly<Record<string, unknown>>;

/** How to write one field of an object, compiled once. */
interface FieldPlan {
  /** The property of the message. */
  readonly property: string;
  /** The key and its colon as JSON text. */
  readonly key: string;
  readonly write: (value: unknown) => string;
  /** Whether the value is left out. */
  readonly isUnset: (value: unknown) => boolean;
  readonly nullable: boolean;
}

const writers = new WeakMap<DescMessage, Write>();

/**
 * Creates the function that writes messages of one type as JSON text of an HTTP surface, by the options of
 * tollgate.facade.v1. Fields are written in the file's order: implicit ones always, optional ones when set.
 */
export function jsonEncoder<Desc extends DescMessage>(desc: Desc): (message: MessageShape<Desc>) => string {
  return compileWriter(desc) as (message: MessageShape<Desc>) => string;
}

function compileWriter(desc: DescMessage): Write {
  const known = writers.get(desc);
  if (known !== undefined) {
    return known;
  }
  // A message may contain itself, so the entry must exist before its fields are compiled.
  let write!: Write;
  writers.set(desc, (message) => write(message));
  write = compile(desc);
  writers.set(desc, write);
  return write;
}

function compile(desc: DescMessage): Write {
  const shape = readShape(desc);
  switch (shape.case) {
    case "untagged":
      return unionWriter(desc, (field) => valueWriter(field));
    case "taggedBy": {
      const key = JSON.stringify(shape.value);
      return unionWriter(desc, (field) => {
        const head = `{${key}:${JSON.stringify(readKey(field))}`;
        const write = valueWriter(field);
        return (value) => {
          const members = write(value);
          return members.length === 2 ? `${head}}` : `${head},${members.slice(1)}`;
        };
      });
    }
    case "unwrapped": {
      const field = readList(desc);
      const write = valueWriter(field);
      return (message: PlainMessage) => write(message[field.localName]);
    }
    case undefined:
      return objectWriter(desc);
  }
}

function objectWriter(desc: DescMessage): Write {
  const fields = desc.fields.map(compilePlan);
  return (message: PlainMessage) => {
    let text = "{";
    for (const field of fields) {
      const value = message[field.property];
      const isUnset = field.isUnset(value);
      if (isUnset && !field.nullable) {
        continue;
      }
      text += text.length === 1 ? field.key : `,${field.key}`;
      text += isUnset ? "null" : field.write(value);
    }
    return `${text}}`;
  };
}

function compilePlan(field: DescField): FieldPlan {
  if (field.oneof !== undefined) {
    throw new Error(`${field}: a oneof needs a message that is a union`);
  }
  const rules = readRules(field);
  return {
    property: field.localName,
    key: `${JSON.stringify(readKey(field))}:`,
    write: valueWriter(field),
    isUnset: unsetTest(field, rules?.omitEmpty ?? false),
    nullable: rules?.nullable ?? false,
  };
}

function unsetTest(field: DescField, omitEmpty: boolean): (value: unknown) => boolean {
  if (field.fieldKind === "list") {
    return omitEmpty ? (value) => (value as unknown[]).length === 0 : () => false;
  }
  if (!isImplicit(field)) {
    return (value) => value === undefined;
  }
  // The zero value of an enum, and empty JSON text, mean absent.
  if (field.fieldKind === "enum") {
    return (value) => value === 0;
  }
  if (readRules(field)?.jsonText || readRules(field)?.numberText) {
    return (value) => value === "";
  }
  return () => false;
}

function unionWriter(desc: DescMessage, memberWriter: (field: DescField) => (value: unknown) => string): Write {
  const union = readUnion(desc);
  const members = new Map(union.fields.map((field) => [field.localName, memberWriter(field)]));
  return (message: PlainMessage) => {
    const member = message[union.localName] as { case?: string; value?: unknown };
    const write = members.get(member.case ?? "");
    if (write === undefined) {
      throw new Error(`${desc}: no member of the union is set`);
    }
    return write(member.value);
  };
}

function valueWriter(field: DescField): (value: unknown) => string {
  switch (field.fieldKind) {
    case "list": {
      const write = itemWriter(field);
      if (write === JSON.stringify) {
        return write; // whole lists at once, since vectors have a thousand numbers
      }
      return (value) => {
        const items = value as unknown[];
        let text = "[";
        for (let i = 0; i < items.length; i++) {
          text += i === 0 ? write(items[i]) : `,${write(items[i])}`;
        }
        return `${text}]`;
      };
    }
    case "map":
      throw new Error(`${field}: maps are not used on an HTTP surface`);
    default:
      return itemWriter(field);
  }
}

function itemWriter(field: DescField): (value: unknown) => string {
  if (field.message !== undefined) {
    return compileWriter(field.message) as (value: unknown) => string;
  }
  if (field.enum !== undefined) {
    const texts = new Map([...readStrings(field.enum)].map(([number, name]) => [number, JSON.stringify(name)]));
    return (value) => texts.get(value as number) ?? "null";
  }
  if (readRules(field)?.jsonText || readRules(field)?.numberText) {
    return (value) => value as string;
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return JSON.stringify;
    case ScalarType.BOOL:
      return String;
    case ScalarType.INT32:
    case ScalarType.UINT32:
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return String;
    case ScalarType.DOUBLE:
      return JSON.stringify; // NaN and Infinity become null: JSON has neither
    default:
      throw new Error(`${field}: this scalar is not used on an HTTP surface`);
  }
}
