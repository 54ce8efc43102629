import { configJsonSchema } from "#src/config/json-schema.ts";
import { code, table } from "./markdown.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** Every field of a configuration file, a table a section, in Markdown. */
export function configurationReference(): string {
  const { properties = {} } = configJsonSchema() as Schema;
  return Object.entries(properties)
    .map(([name, section]) => {
      const list = section.items !== undefined;
      const about = [section.description, list ? "A list." : undefined].filter(Boolean).join(" ");
      const title = `### \`${name}\``;
      return [title, about, table(["field", "default", "what it is"], rows(section.items ?? section))]
        .filter((part) => part !== "")
        .join("\n\n");
    })
    .join("\n\n");
}

function rows(schema: Schema, before = ""): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${before}${name}`;
    if (field.properties) {
      return rows(field, `${path}.`);
    }
    if (field.items?.properties) {
      return rows(field.items, `${path}[].`);
    }
    const required = schema.required?.includes(name) ?? false;
    return [[code(path), required ? "needed" : readDefault(field), readAbout(field)]];
  });
}

function readDefault(field: Schema): string {
  return field.default === undefined ? "" : code(String(field.default));
}

function readAbout(field: Schema): string {
  const choice = field.enum ? `One of ${field.enum.map(code).join(", ")}.` : undefined;
  return [field.description, choice, readBounds(field)].filter(Boolean).join(" ");
}

function readBounds({ minimum, exclusiveMinimum, maximum }: Schema): string | undefined {
  const least =
    minimum !== undefined ? `from ${minimum}` : exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : "";
  const most = maximum !== undefined ? `up to ${maximum}` : "";
  const bounds = [least, most].filter(Boolean).join(", ");
  return bounds === "" ? undefined : `(${bounds})`;
}
