import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { jsonDecoder } from "../json/decoder.ts";
import { readKey } from "../json/options.ts";

/**
 * Creates the function that reads a message from a query string and the path's parameters, which take precedence.
 * Items of a list have commas between. Unknown parameters are ignored. Throws RequestError 400 with the parameter's name.
 */
export function queryReader(
  desc: DescMessage,
): (query: URLSearchParams, path: Readonly<Record<string, string>>) => unknown {
  const decode = jsonDecoder(desc);
  return (query, path) => {
    const object: Record<string, unknown> = {};
    for (const field of desc.fields) {
      const key = readKey(field);
      const text = path[key] ?? query.get(key);
      if (text !== null && text !== "") {
        object[key] = field.fieldKind === "list" ? text.split(",").map((item) => item.trim()) : valueIn(field, text);
      }
    }
    return decode(object);
  };
}

/** The value that a text stands for. A text of the wrong kind stays text, for the decoder to refuse. */
function valueIn(field: DescField, text: string): unknown {
  if (field.fieldKind !== "scalar" || field.scalar === ScalarType.STRING) {
    return text;
  }
  if (field.scalar === ScalarType.BOOL) {
    return text === "true" ? true : text === "false" ? false : text;
  }
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
