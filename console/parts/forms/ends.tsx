import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { setQuery } from "../../app/router.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";
import { Field } from "./field.tsx";

/** The ends of a span of time as they stand in the address. Empty: it has no such end. */
export interface Ends {
  readonly from: string;
  readonly to: string;
}

/** Fields for the ends of a list's time. They are in the address. */
export function EndFields({ ends }: { readonly ends: Ends }) {
  const time = (name: keyof Ends) => ({
    ...{ name, type: "datetime-local" as const, value: toField(ends[name]) },
    onInput: (text: string) => setQuery({ [name]: fromLocalTime(text)?.toISOString() ?? "" }),
  });
  return (
    <>
      <Field label="From" {...time("from")} />
      <Field label="Until" {...time("to")} />
    </>
  );
}

/** The ends as the contract's requests have them. What is no time is no end. */
export function toTimes({ from, to }: Ends) {
  return { ...toEnd("from", from), ...toEnd("to", to) };
}

function toEnd(name: keyof Ends, text: string) {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? {} : { [name]: timestampFromMs(ms) };
}

function toField(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? "" : toLocalTime(date);
}
