import { formatCount, formatPercent } from "../../../../format/numbers.ts";
import { Table } from "../../../../parts/figures/table.tsx";
import { Section } from "../../../../parts/frame/page.tsx";
import type { Refused } from "./shares.ts";

interface Props {
  readonly refusals: readonly Refused[];
  /** All requests of that time. */
  readonly requests: number;
  /** Such as "in the last minute". */
  readonly when: string;
}

/** Why requests were refused or failed, and how many of all. */
export function Refusals({ refusals, requests, when }: Props) {
  const refused = refusals.reduce((sum, row) => sum + Number(row.requests), 0);
  if (refused === 0) {
    return <p class="below-table">Nothing was refused or failed {when}.</p>;
  }
  const share = requests > 0 ? `: ${formatPercent(Math.min(1, refused / requests))} of requests` : "";
  return (
    <Section title={`Refused or failed ${when}${share}`}>
      <Table
        caption={`Refused or failed requests ${when}`}
        rows={refusals}
        keyOf={({ reason }) => reason}
        columns={[
          {
            name: "Reason",
            isHeader: true,
            show: ({ reason }) => <a href={`/requests?reason=${reason}`}>{toWords(reason)}</a>,
          },
          { name: "Requests", isNumber: true, show: (row) => formatCount(row.requests) },
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
