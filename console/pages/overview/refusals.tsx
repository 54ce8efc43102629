import type { RefusalCount } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { formatCount } from "../../format/numbers.ts";
import { Table } from "../../parts/figures/table.tsx";
import { Section } from "../../parts/page.tsx";

/** Why requests were refused in the last minute. */
export function Refusals({ refusals }: { readonly refusals: readonly RefusalCount[] }) {
  if (refusals.length === 0) {
    return <p class="below-table">Nothing was refused in the last minute.</p>;
  }
  return (
    <Section title="Refused in the last minute">
      <Table
        caption="Refused or failed requests of the last minute"
        rows={refusals}
        keyOf={({ reason }) => reason}
        columns={[
          { name: "Reason", isHeader: true, show: ({ reason }) => toWords(reason) },
          { name: "Requests", isNumber: true, show: ({ requests }) => formatCount(requests) },
        ]}
      />
    </Section>
  );
}

/** Turns "RATE_LIMITED" into "Rate limited". */
function toWords(reason: string): string {
  const words = reason.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
