import type { IncomingHttpHeaders } from "node:http";

/** An attribution label, and what it is read from: "user", or "header:" with a header's name in small letters. */
export interface LabelSource {
  readonly name: string;
  readonly from: string;
}

/** What the client says of who uses it, as values by the names of labels. `user`: the body's. */
export type ReadLabels = (headers: IncomingHttpHeaders, user: string | undefined) => Record<string, string>;

/** The most characters of a value that are passed on: more than are kept. */
const longestValue = 512;

/** Reads the values of these labels, and nothing else. */
export function createLabelReader(sources: readonly LabelSource[]): ReadLabels {
  const plans = sources.map(({ name, from }) => ({ name, header: from === "user" ? undefined : from.slice(7) }));
  return (headers, user) => {
    const values: Record<string, string> = {};
    for (const { name, header } of plans) {
      const value = header === undefined ? user : headers[header];
      if (typeof value === "string" && value !== "") {
        values[name] = value.slice(0, longestValue).toWellFormed();
      }
    }
    return values;
  };
}
