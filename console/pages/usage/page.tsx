import { useMemo, useState } from "preact/hooks";
import { query, setQuery } from "../../app/router.ts";
import { isCustomer } from "../../app/session.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { CsvButton } from "../../parts/csv.tsx";
import { Select } from "../../parts/forms/field.tsx";
import { Page } from "../../parts/page.tsx";
import { toLines } from "./csv.ts";
import { GroupTable } from "./group-table.tsx";
import { loadAll, loadTotal, loadUsage } from "./load.ts";
import { loadKeyNames, loadNames, noNames } from "./names.ts";
import { Opened } from "./opened.tsx";
import { Total } from "./total.tsx";
import { UsagePlot } from "./usage-plot.tsx";
import { by, groupNames, periodOf, periods, type Sum } from "./view.ts";

const firstRows = 50;
const noSums: readonly Sum[] = [];

/** Requests, tokens and cost over time, grouped as the reader chooses. */
export default function UsagePage() {
  const period = periodOf(query.value.get("period"));
  const group = by(query.value.get("by"), isCustomer.value);
  const from = useMemo(() => period.from(new Date()), [period]);
  const [most, setMost] = useState(firstRows);
  const usage = useQuery(
    async (signal) => {
      const used = await loadUsage(group, period, from, most, signal);
      return { used, names: await loadNames(group, used.sums, signal) };
    },
    [group, period],
    undefined,
    most,
  );
  const sums = usage.data?.used.sums ?? noSums;
  const { data: keyNames = noNames } = useQuery((signal) => loadKeyNames(group, sums, signal), [sums]);
  const names = useMemo(() => new Map([...(usage.data?.names ?? noNames), ...keyNames]), [usage.data, keyNames]);
  const total = useQuery((signal) => loadTotal(from, signal), [period]);
  return (
    <Page
      title="Usage"
      lead="What requests cost, in hours or days of UTC. A row opens the receipts that it is the sum of."
      actions={
        usage.data &&
        usage.data.used.sums.length > 0 && (
          <CsvButton name="usage" load={async (signal) => toLines(await loadAll(group, period, from, signal))} />
        )
      }
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
      <Answer query={total}>
        {(sum) =>
          sum.requests === 0n ? (
            <Empty title="Nothing was used in this time">
              Choose a longer period, or send a request from the <a href="/playground">playground</a>.
            </Empty>
          ) : (
            <>
              <Total total={sum} />
              <Answer query={usage}>
                {({ used }) => (
                  <>
                    <UsagePlot lines={used.lines} names={names} period={period} from={from} />
                    <GroupTable used={used} total={sum} group={group} names={names} onMore={() => setMost(most * 4)} />
                    <Opened group={group} names={names} from={from} />
                  </>
                )}
              </Answer>
            </>
          )
        }
      </Answer>
    </Page>
  );
}
