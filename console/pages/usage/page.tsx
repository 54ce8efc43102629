import { useMemo } from "preact/hooks";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { query, setQuery } from "../../app/router.ts";
import { isCustomer } from "../../app/session.ts";
import { metering } from "../../contract/clients.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Select } from "../../parts/forms/field.tsx";
import { Page } from "../../parts/page.tsx";
import { CsvButton } from "./csv.tsx";
import { GroupTable } from "./group-table.tsx";
import { loadNames, noNames } from "./names.ts";
import { Opened } from "./opened.tsx";
import { UsagePlot } from "./usage-plot.tsx";
import { by, type GroupName, groupNames, periodOf, periods } from "./view.ts";

/** Requests, tokens and cost over time, kept apart by what one asks for. */
export default function UsagePage() {
  const period = periodOf(query.value.get("period"));
  const group = by(query.value.get("by"), isCustomer.value);
  const from = useMemo(() => period.from(new Date()), [period]);
  const usage = useQuery((signal) => load(group, period.step, from, signal), [group, period]);
  const { data: names = noNames } = useQuery((signal) => loadNames(group, signal), [group]);
  return (
    <Page
      title="Usage"
      lead="From rollups of settled receipts, in UTC."
      actions={usage.data && usage.data.length > 0 && <CsvButton rows={usage.data} />}
    >
      <div class="fields filter wide">
        <Select
          label="Period"
          name="period"
          value={period.value}
          options={periods}
          onChange={(value) => setQuery({ period: value, open: "" })}
        />
        <Select
          label="By"
          name="by"
          value={group}
          options={groupNames(isCustomer.value)}
          onChange={(value) => setQuery({ by: value, open: "" })}
        />
      </div>
      <Answer query={usage}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nothing was used in this time">
              Choose a longer period, or send a request from the <a href="/playground">playground</a>.
            </Empty>
          ) : (
            <>
              <UsagePlot rows={rows} group={group} names={names} period={period} from={from} />
              <GroupTable rows={rows} group={group} names={names} />
              <Opened group={group} names={names} from={from} />
            </>
          )
        }
      </Answer>
    </Page>
  );
}

const groups: Readonly<Record<GroupName, UsageGroup>> = {
  account: UsageGroup.ACCOUNT,
  key: UsageGroup.KEY,
  model: UsageGroup.MODEL,
};

async function load(
  group: GroupName,
  step: "hour" | "day",
  from: Date,
  signal: AbortSignal,
): Promise<readonly UsageRow[]> {
  const groupBy = [groups[group], step === "hour" ? UsageGroup.HOUR : UsageGroup.DAY];
  const rows: UsageRow[] = [];
  const request = { groupBy, from: { seconds: BigInt(Math.floor(from.getTime() / 1000)) } };
  for await (const piece of metering.streamUsage(request, { signal })) {
    rows.push(...piece.rows);
  }
  return rows;
}
