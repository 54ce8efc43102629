import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { audit } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { toTimes } from "../../../parts/forms/ends.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { FilterForm, filterField, readFilters } from "../../../parts/forms/filters.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Change } from "./change.tsx";
import { loadNames, type Names } from "./names.ts";
import { Target, Who } from "./target.tsx";

/** A change, with the names for its page of the list. */
interface Row {
  readonly event: AuditEvent;
  readonly names: Names;
}

/** Who changed what, and when. */
export default function AuditPage() {
  const filters = readFilters(["operator", "target"]);
  const asked = { operator: filters.operator.trim(), target: filters.target.trim(), ...toTimes(filters) };
  const pages = usePages<Row>(async (pageToken, signal) => {
    const { auditEvents, nextPageToken } = await audit.listAuditEvents(
      { ...asked, pageToken, pageSize: 50 },
      { signal },
    );
    const names = await loadNames(auditEvents, signal);
    return { rows: auditEvents.map((event) => ({ event, names })), next: nextPageToken };
  }, Object.values(filters));
  const isFiltered = Object.values(filters).some((filter) => filter !== "");
  return (
    <Page
      title="Audit"
      lead={
        isCustomer.value
          ? "Every change that members and management keys made in your account."
          : "Every change that was made. Rows are written once; the database refuses to change them."
      }
    >
      <FilterForm filters={filters}>
        <Field label="Who" {...filterField(filters, "operator")} hint="The whole name." />
        <Field
          label="Target"
          isCode
          {...filterField(filters, "target")}
          hint="The id of an account, a key or a model."
        />
      </FilterForm>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 && isFiltered ? (
            <Empty title="No change is like that">Take a filter away.</Empty>
          ) : rows.length === 0 ? (
            <Empty title="Nothing was changed yet">A top-up, a new key or a price would be the first row.</Empty>
          ) : (
            <Changes rows={rows} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "change")} />
    </Page>
  );
}

function Changes({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <Table
      caption="Changes, newest first"
      rows={rows}
      keyOf={({ event }) => event.id}
      columns={[
        { name: "When", show: ({ event }) => <Time at={event.at} /> },
        { name: "Who", isHeader: true, show: (row) => <Who {...row} /> },
        { name: "What", show: ({ event }) => toWords(event.method) },
        { name: "Target", isOptional: true, show: (row) => <Target {...row} /> },
        { name: "From", isOptional: true, show: ({ event }) => event.address },
        { name: "Details", isNameHidden: true, isNumber: true, show: ({ event }) => <Change event={event} /> },
      ]}
    />
  );
}

/** Turns "tollgate.accounts.v1.AccountsService/TopUp" into "Top up". */
function toWords(method: string): string {
  const words = (method.split("/").at(-1) ?? method).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
