import type { Event } from "#gen/tollgate/events/v1/events_service_pb.js";
import { parseUsd } from "../../../../lib/money/money.ts";
import { events } from "../../../contract/clients.ts";
import { countOf, formatCount } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { type Query, useQuery } from "../../../parts/calls/use-query.ts";
import { Amount, mostDecimals } from "../../../parts/figures/amount.tsx";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import type { Sums } from "./equation.tsx";

const refreshMs = 3000;
const shown = 20;

/** Loads past proofs of all cores, newest first. */
export function usePastProofs(): Query<readonly Event[]> {
  return useQuery(
    async (signal) => {
      const request = { types: ["books.proved", "books.failed"], pageSize: shown };
      return (await events.listEvents(request, { signal })).events;
    },
    [],
    refreshMs,
  );
}

/** Past proofs. */
export function Proofs({ query }: { readonly query: Query<readonly Event[]> }) {
  return (
    <Section title="Past proofs">
      <Answer query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There is no proof yet">
              The books are proved by themselves every hour, and whenever somebody asks.
            </Empty>
          ) : (
            <ProofTable rows={rows} />
          )
        }
      </Answer>
    </Section>
  );
}

function ProofTable({ rows }: { readonly rows: readonly Event[] }) {
  const decimals = mostDecimals(rows.map((row) => readUsd(row, "balance")));
  return (
    <Table
      caption="Past proofs, newest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { name: "When", isHeader: true, show: ({ timestamp }) => <Time at={timestamp} /> },
        { name: "Books", show: (row) => <Outcome row={row} /> },
        { name: "Accounts", isNumber: true, isOptional: true, show: (row) => readCount(row, "accounts") },
        { name: "Receipts", isNumber: true, isOptional: true, show: (row) => readCount(row, "receipts") },
        {
          name: "Unspent",
          isNumber: true,
          show: (row) => <Amount pico={readUsd(row, "balance")} decimals={decimals} />,
        },
      ]}
    />
  );
}

function Outcome({ row: { type, data } }: { readonly row: Event }) {
  return type === "books.proved" ? (
    <Badge tone="good">They held</Badge>
  ) : (
    <span title={String(data?.finding ?? "")}>
      <Badge tone="bad">{countOf(Number(data?.findings ?? 0), "finding")}</Badge>
    </span>
  );
}

function readCount({ data }: Event, name: string): string {
  return formatCount(BigInt(String(data?.[name] ?? 0)));
}

/** What a past proof has added up. */
export function readSums(event: Event): Sums {
  return {
    granted: readUsd(event, "granted"),
    balance: readUsd(event, "balance"),
    spent: readUsd(event, "spent"),
    refunded: readUsd(event, "refunded"),
    expired: readUsd(event, "expired"),
    debt: readUsd(event, "debt"),
  };
}

/** Reads an amount in exact decimal USD, as events contain it. */
function readUsd({ data }: Event, name: string): bigint {
  return parseUsd(String(data?.[name] ?? "0")) ?? 0n;
}
