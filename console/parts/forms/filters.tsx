import type { ComponentChildren } from "preact";
import { query, setQuery } from "../../app/router.ts";
import { EndFields, type Ends } from "./ends.tsx";

/** The filters of a list, by their names in the address. Empty: everything. */
export type Filters<Name extends string> = Readonly<Record<Name, string>> & Ends;

/** Reads the filters from the address. */
export function readFilters<Name extends string>(names: readonly Name[]): Filters<Name> {
  return Object.fromEntries(
    [...names, "from", "to"].map((name) => [name, query.value.get(name) ?? ""]),
  ) as Filters<Name>;
}

/** What a field of a filter has, and where its text goes. */
export function filterField<Name extends string>(filters: Readonly<Record<Name, string>>, name: Name) {
  return { name, value: filters[name], onInput: (value: string) => setQuery({ [name]: value }) };
}

/** The fields of a list's filters, and those of its time. */
export function FilterForm({ filters, children }: { readonly filters: Ends; readonly children: ComponentChildren }) {
  return (
    <div class="fields filter across-page">
      {children}
      <EndFields ends={filters} />
    </div>
  );
}
