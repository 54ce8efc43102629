import type { DescMessage } from "@bufbuild/protobuf";
import { readKey, readRules } from "./options.ts";

/** A number of a JSON body as its sender wrote it: a JS number would not hold every amount exactly. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Revive = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The parser of JSON for a message: fields that are texts of numbers keep their digits. */
export function jsonParser(desc: DescMessage): (text: string) => unknown {
  const exact = new Set(desc.fields.filter((field) => readRules(field)?.numberText).map(readKey));
  if (exact.size === 0) {
    return JSON.parse;
  }
  const revive: Revive = (key, value, { source }) =>
    typeof value === "number" && source !== undefined && exact.has(key) ? new NumberText(source) : value;
  return (text) => JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}
