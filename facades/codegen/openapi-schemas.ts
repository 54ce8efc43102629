import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { getComments } from "@bufbuild/protoplugin";
import type { Options } from "./options.ts";

/** A JSON Schema, or a part of a document. */
export type Json = { readonly [key: string]: unknown };

/** The option tollgate.facade.v1.json_message, as far as it affects a schema. */
interface JsonMessage {
  readonly shape: { readonly case?: "untagged" | "taggedBy" | "unwrapped"; readonly value?: unknown };
  readonly ignoreUnknownTags: boolean;
  readonly condition: string;
}

/** The option tollgate.facade.v1.json_field, as far as it affects a schema. */
interface JsonField {
  readonly nullable: boolean;
  readonly required: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly above?: number;
  readonly unset?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly omitEmpty: boolean;
  readonly jsonText: boolean;
  readonly name: string;
  readonly refused: string;
  readonly only: string;
  readonly requiredForType: string;
  readonly numberText: boolean;
  readonly nullClears: boolean;
  readonly lenient: boolean;
}

/** The schemas of a document, one for each message in its bodies. */
export class Schemas {
  readonly #options: Options;
  /** Messages that callers send. In these, fields with a default may be left out. */
  readonly #sent: ReadonlySet<DescMessage>;
  readonly #components = new Map<string, Json>();

  constructor(options: Options, inputs: readonly DescMessage[]) {
    this.#options = options;
    this.#sent = reachable(inputs);
  }

  /** All referenced schemas by name. */
  get components(): Json {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to a message's schema. */
  refTo(desc: DescMessage): Json {
    if (!this.#components.has(desc.typeName)) {
      this.#components.set(desc.typeName, {}); // first, since a message may contain itself
      this.#components.set(desc.typeName, described(desc, this.#messageSchema(desc)));
    }
    return { $ref: `#/components/schemas/${desc.typeName}` };
  }

  /** The key of a field, or the tag that selects it. */
  keyOf(field: DescField): string {
    return this.#rulesOf(field)?.name || field.name;
  }

  /** Whether a body or a query without the field is refused. */
  isRequired(field: DescField): boolean {
    return this.#rulesOf(field)?.required ?? false;
  }

  /** The schema of a field, with its comment and bounds. */
  fieldSchema(field: DescField): Json {
    const rules = this.#rulesOf(field);
    const schema = field.fieldKind === "list" ? this.#listSchema(field, rules) : this.#valueSchema(field, rules);
    if (rules?.unset !== undefined) {
      return described(field, { anyOf: [schema, { const: rules.unset }] });
    }
    if (rules?.lenient) {
      return described(field, { anyOf: [schema, {}] });
    }
    return described(
      field,
      (rules?.nullable || rules?.nullClears) && !rules.jsonText ? { anyOf: [schema, { type: "null" }] } : schema,
    );
  }

  #messageSchema(desc: DescMessage): Json {
    const { shape, ignoreUnknownTags, condition } = this.#options.get<JsonMessage>(
      desc,
      "tollgate.facade.v1.json_message",
    ) ?? { shape: {}, ignoreUnknownTags: false, condition: "" };
    switch (shape.case) {
      case "untagged":
        return { anyOf: desc.fields.map((field) => this.fieldSchema(field)) };
      case "unwrapped":
        return desc.fields[0] === undefined ? {} : this.fieldSchema(desc.fields[0]);
      case "taggedBy": {
        const tag = String(shape.value);
        const members = desc.fields.map((field) => this.#taggedSchema(field, tag));
        // Ignored tags are allowed, so a value may match one of the members and "something else".
        return ignoreUnknownTags
          ? { anyOf: [...members, objectSchema({ [tag]: { type: "string" } }, [tag])] }
          : { oneOf: members };
      }
      default:
        return this.#objectSchema(desc, condition === "" ? [] : [JSON.parse(condition)]);
    }
  }

  #taggedSchema(field: DescField, tag: string): Json {
    return described(field, {
      allOf: [objectSchema({ [tag]: { const: this.keyOf(field) } }, [tag]), this.#valueSchema(field, undefined)],
    });
  }

  #objectSchema(desc: DescMessage, more: readonly Json[]): Json {
    const fields = desc.fields.filter((field) => !this.#rulesOf(field)?.refused);
    const required = fields.filter((field) =>
      this.#sent.has(desc) ? this.#rulesOf(field)?.required : this.#isAlwaysSent(field),
    );
    const schema = objectSchema(
      Object.fromEntries(fields.map((field) => [this.keyOf(field), this.fieldSchema(field)])),
      required.map((field) => this.keyOf(field)),
    );
    const conditions = fields.flatMap((field) => {
      const type = this.#rulesOf(field)?.requiredForType;
      return type ? requiredForType(this.keyOf(field), type) : [];
    });
    const all = [...conditions, ...more];
    return all.length === 0 ? schema : { ...schema, allOf: all };
  }

  #isAlwaysSent(field: DescField): boolean {
    const rules = this.#rulesOf(field);
    if (rules?.nullable || rules?.required) {
      return true;
    }
    if (field.fieldKind === "list") {
      return !rules?.omitEmpty;
    }
    return (
      field.fieldKind === "scalar" &&
      field.presence === FeatureSet_FieldPresence.IMPLICIT &&
      !rules?.jsonText &&
      !rules?.numberText
    );
  }

  #listSchema(field: DescField, rules: JsonField | undefined): Json {
    return {
      type: "array",
      items: this.#valueSchema(field, rules),
      ...(rules?.minItems !== undefined && { minItems: rules.minItems }),
      ...(rules?.maxItems !== undefined && { maxItems: rules.maxItems }),
    };
  }

  #valueSchema(field: DescField, rules: JsonField | undefined): Json {
    if (rules?.only) {
      return onlySchema(rules.only);
    }
    if (field.message !== undefined) {
      return this.refTo(field.message);
    }
    if (field.enum !== undefined) {
      return this.#enumSchema(field.enum);
    }
    if (rules?.jsonText) {
      return {};
    }
    if (rules?.numberText) {
      return { type: "number" };
    }
    switch (field.scalar) {
      case ScalarType.STRING:
        return { type: "string", ...(rules?.minLength !== undefined && { minLength: rules.minLength }) };
      case ScalarType.BOOL:
        return { type: "boolean" };
      case ScalarType.DOUBLE:
        return { type: "number", ...readBounds(rules) };
      case ScalarType.UINT32:
      case ScalarType.UINT64:
        return { type: "integer", minimum: 0, ...readBounds(rules) };
      default:
        return { type: "integer", ...readBounds(rules) };
    }
  }

  #enumSchema(desc: DescEnum): Json {
    const values = desc.values.map((value) => this.#options.get<string>(value, "tollgate.facade.v1.json_value"));
    return { type: "string", enum: values.filter((value) => value !== undefined) };
  }

  #rulesOf(field: DescField): JsonField | undefined {
    return this.#options.get<JsonField>(field, "tollgate.facade.v1.json_field");
  }
}

/** The comment above a declaration. */
export function readComment(desc: Parameters<typeof getComments>[0]): string {
  return (getComments(desc).leading ?? "").trim().replace(/\s*\n\s*/g, " ");
}

function described(desc: DescMessage | DescField, schema: Json): Json {
  const description = readComment(desc);
  return description === "" ? schema : { description, ...schema };
}

/** The schema of a field's only accepted value, given as JSON text. */
function onlySchema(only: string): Json {
  if (only === "[]") {
    return { type: "array", maxItems: 0 };
  }
  if (only === "{}") {
    return { type: "object", maxProperties: 0 };
  }
  return { const: JSON.parse(only) };
}

function requiredForType(key: string, type: string): Json {
  return { anyOf: [{ properties: { type: { not: { const: type } } } }, { required: [key] }] };
}

function readBounds(rules: JsonField | undefined): Json {
  return {
    ...(rules?.minimum !== undefined && { minimum: rules.minimum }),
    ...(rules?.above !== undefined && { exclusiveMinimum: rules.above }),
    ...(rules?.maximum !== undefined && { maximum: rules.maximum }),
  };
}

function objectSchema(properties: Json, required: readonly string[]): Json {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function reachable(inputs: readonly DescMessage[]): ReadonlySet<DescMessage> {
  const seen = new Set<DescMessage>();
  const visit = (desc: DescMessage) => {
    if (seen.has(desc)) {
      return;
    }
    seen.add(desc);
    for (const { message } of desc.fields) {
      if (message !== undefined) {
        visit(message);
      }
    }
  };
  inputs.forEach(visit);
  return seen;
}
