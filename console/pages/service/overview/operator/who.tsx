import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { accounts, metering } from "../../../../contract/clients.ts";
import { formatCount } from "../../../../format/numbers.ts";
import { Answer } from "../../../../parts/calls/answer.tsx";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Amount, mostDecimals } from "../../../../parts/figures/amount.tsx";
import { Clip } from "../../../../parts/figures/clip.tsx";
import { Table } from "../../../../parts/figures/table.tsx";
import { Section } from "../../../../parts/frame/page.tsx";
import type { Range } from "./ranges.ts";

const refreshMs = 10_000;
const shown = 5;

interface Earner {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly cost: bigint;
  readonly requests: bigint;
}

/** Who spends most in a range, and which models earn most. */
export function Who({ range }: { readonly range: Range }) {
  const query = useQuery((signal) => load(range, signal), [range], refreshMs);
  return (
    <Answer query={query}>
      {({ spenders, models }) =>
        spenders.length > 0 && (
          <div class="columns">
            <Section title={`Top accounts, ${range.text}`}>
              <Earners caption="Accounts that spend most" name="Account" rows={spenders} />
            </Section>
            <Section title={`Models by revenue, ${range.text}`}>
              <Earners caption="Models that earn most" name="Model" rows={models} />
            </Section>
          </div>
        )
      }
    </Answer>
  );
}

function Earners({
  caption,
  name,
  rows,
}: {
  readonly caption: string;
  readonly name: string;
  readonly rows: readonly Earner[];
}) {
  const decimals = mostDecimals(rows.map(({ cost }) => cost));
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name,
          isHeader: true,
          show: (row) => (
            <a href={row.path}>
              <Clip text={row.name} />
            </a>
          ),
        },
        { name: "Revenue", isNumber: true, show: ({ cost }) => <Amount pico={cost} decimals={decimals} /> },
        { name: "Requests", isNumber: true, isOptional: true, show: ({ requests }) => formatCount(requests) },
      ]}
    />
  );
}

async function load(range: Range, signal: AbortSignal) {
  const from = { seconds: BigInt(Math.floor(Date.now() / 1000) - range.seconds) };
  const ask = async (group: UsageGroup): Promise<UsageRow[]> => {
    const rows: UsageRow[] = [];
    for await (const piece of metering.streamUsage({ groupBy: [group], from, dearest: shown }, { signal })) {
      rows.push(...piece.rows);
    }
    return rows;
  };
  const [byAccount, byModel] = await Promise.all([ask(UsageGroup.ACCOUNT), ask(UsageGroup.MODEL)]);
  const accountIds = byAccount.map(({ accountId }) => accountId);
  const named =
    accountIds.length === 0
      ? []
      : (await accounts.listAccounts({ accountIds, withoutMoney: true }, { signal })).accounts;
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return {
    spenders: byAccount.map((row) => toEarner(row, row.accountId, names.get(row.accountId), "/accounts/")),
    models: byModel.map((row) => toEarner(row, row.model, row.model, "/models/")),
  };
}

function toEarner(row: UsageRow, id: string, name: string | undefined, path: string): Earner {
  const cost = BigInt(row.totalCostPicoUsd || row.costPicoUsd);
  return { id, name: name || id, path: path + id, cost, requests: row.requests };
}
