import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { metering } from "../../contract/clients.ts";
import { formatCount } from "../../format/numbers.ts";
import { Answer } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Amount } from "../../parts/figures/amount.tsx";
import { Figure, Figures } from "../../parts/figures/figure.tsx";
import { Section } from "../../parts/page.tsx";
import { ReceiptList } from "../../parts/receipts/receipt-list.tsx";

const refreshMs = 3000;
const daySeconds = 86_400;

/** Today's sums so far, and their parts. */
export function Today() {
  const query = useQuery(loadToday, [], refreshMs);
  return (
    <>
      <Section title="Today, since midnight UTC" actions={<a href="/usage">Open the usage</a>}>
        <Answer query={query}>{(rows) => <Sums rows={rows} />}</Answer>
      </Section>
      <Section title="Newest receipts">
        <ReceiptList filter={{}} pageSize={8} version={query.data && sum(query.data, (row) => row.requests)} />
      </Section>
    </>
  );
}

function Sums({ rows }: { readonly rows: readonly UsageRow[] }) {
  const requests = sum(rows, (row) => row.requests);
  return (
    <Figures>
      <Figure name="Earned" isWide>
        <Amount pico={sum(rows, (row) => BigInt(row.totalCostPicoUsd || row.costPicoUsd))} name="total" />
      </Figure>
      <Figure name="Requests" detail={requests === 0n && <a href="/first-run">Make the first one</a>}>
        {formatCount(requests)}
      </Figure>
      <Figure name="Input tokens">{formatCount(sum(rows, (row) => row.inputTokens))}</Figure>
      <Figure name="Output tokens">{formatCount(sum(rows, (row) => row.outputTokens))}</Figure>
    </Figures>
  );
}

async function loadToday(signal: AbortSignal): Promise<readonly UsageRow[]> {
  const now = Math.floor(Date.now() / 1000);
  const rows: UsageRow[] = [];
  const request = { groupBy: [UsageGroup.DAY], from: { seconds: BigInt(now - (now % daySeconds)) } };
  for await (const piece of metering.streamUsage(request, { signal })) {
    rows.push(...piece.rows);
  }
  return rows;
}

function sum(rows: readonly UsageRow[], pick: (row: UsageRow) => bigint): bigint {
  return rows.reduce((all, row) => all + pick(row), 0n);
}
