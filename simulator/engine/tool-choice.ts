import type { Directive } from "./directives.ts";
import { parseNumber } from "./directives.ts";
import type { Tool, ToolCall } from "./text/chat-template.ts";
import type { Sequence } from "./text/random.ts";

/** A request's setting of tool calls. */
export type ToolChoice = "none" | "auto" | "required" | { readonly name: string };

/** The facts that decide which tools are called. */
export interface ToolSituation {
  readonly tools: readonly Tool[];
  readonly choice: ToolChoice;
  readonly parallel: boolean;
  /** The last question, and whether tools have answered since. */
  readonly question: string;
  readonly answered: boolean;
  readonly directives: readonly Directive[];
}

/**
 * The calls that the model makes. When the choice is its own, it calls the tools that directives name, otherwise the
 * first tool of which the question mentions the name or a word of the name. After results it answers.
 */
export function chooseCalls(situation: ToolSituation, random: Sequence): ToolCall[] {
  const chosen = choose(situation);
  const calls = situation.parallel ? chosen : chosen.slice(0, 1);
  const given = situation.directives.filter(({ name }) => name === "args").map(({ value }) => value);
  return calls.map((tool, at) => ({
    id: `call_${hex(24, random)}`,
    name: tool.name,
    arguments: given[at] ?? given[0] ?? JSON.stringify(makeSample(tool.parameters ?? { type: "object" }, random)),
  }));
}

function choose({ tools, choice, question, answered, directives }: ToolSituation): Tool[] {
  if (tools.length === 0 || choice === "none") {
    return [];
  }
  if (typeof choice === "object") {
    return tools.filter((tool) => tool.name === choice.name).slice(0, 1);
  }
  if (!answered) {
    const named = directives.filter(({ name }) => name === "tool");
    if (named.length > 0) {
      return named.flatMap(({ value }) => tools.filter((tool) => tool.name === value));
    }
    const count = parseNumber(directives, "tools");
    if (count !== undefined) {
      return Array.from({ length: count }, (_, at) => tools[at % tools.length] as Tool);
    }
    const mentioned = tools.find((tool) => mentions(question, tool.name));
    if (mentioned !== undefined) {
      return [mentioned];
    }
  }
  return choice === "required" ? tools.slice(0, 1) : [];
}

function mentions(question: string, name: string): boolean {
  const asked = question.toLowerCase();
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return asked.includes(words) || words.split(/[^a-z]+/).some((word) => word.length > 4 && asked.includes(word));
}

type Schema = Readonly<Record<string, unknown>>;

/** A value that fits a JSON Schema, as far as type, enum, const, properties and items determine it. */
export function makeSample(value: unknown, random: Sequence): unknown {
  const schema = (typeof value === "object" && value !== null ? value : {}) as Schema;
  if (schema.const !== undefined) {
    return schema.const;
  }
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return schema.enum[Math.floor(random() * schema.enum.length)];
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union) && union.length > 0) {
    return makeSample(union[0], random);
  }
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return sampleObject(schema, random);
    case "array":
      return [makeSample(schema.items, random)];
    case "integer":
      return Math.floor(random() * 100);
    case "number":
      return Math.round(random() * 1000) / 10;
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    default:
      return schema.properties === undefined ? `simulated-${hex(6, random)}` : sampleObject(schema, random);
  }
}

function sampleObject(schema: Schema, random: Sequence): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Schema;
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const names = Object.keys(properties).filter((name) => required.includes(name));
  return Object.fromEntries(names.map((name) => [name, makeSample(properties[name], random)]));
}

function hex(length: number, random: Sequence): string {
  let text = "";
  while (text.length < length) {
    text += Math.floor(random() * 16).toString(16);
  }
  return text;
}
