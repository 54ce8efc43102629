import { setQuery } from "../../app/router.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";
import { Field, Select } from "../forms/field.tsx";
import { periods, type Span } from "./span.ts";

const ownSpan = { value: "", text: "from and until" };

/** Chooses a span of time: a period up to now, or its ends. It is in the address. */
export function SpanFields({ span }: { readonly span: Span }) {
  const set = (ends: { readonly from?: string; readonly to?: string }): void =>
    setQuery({ period: "", from: span.from.toISOString(), to: span.to?.toISOString() ?? "", ...ends });
  const read = (text: string) => fromLocalTime(text)?.toISOString() ?? "";
  return (
    <>
      <Select
        label="Period"
        name="period"
        value={span.period}
        options={span.period === "" ? [ownSpan, ...periods] : periods}
        onChange={(period) => setQuery({ period, from: "", to: "" })}
      />
      <Field
        label="From"
        name="from"
        type="datetime-local"
        value={toLocalTime(span.from)}
        onInput={(text) => set({ from: read(text) })}
      />
      <Field
        label="Until"
        name="to"
        type="datetime-local"
        value={span.to === undefined ? "" : toLocalTime(span.to)}
        onInput={(text) => set({ to: read(text) })}
      />
    </>
  );
}
