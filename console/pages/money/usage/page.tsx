import { useMemo, useState } from "preact/hooks";
import { query, setQuery } from "../../../app/router.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { CsvButton } from "../../../parts/files/csv.tsx";
import { Select } from "../../../parts/forms/field.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { firstOf, firstOptions, readFilter, secondOf, secondOptions } from "../../../parts/usage/groups.ts";
import { LinesPlot } from "../../../parts/usage/lines-plot.tsx";
import { loadAll, loadLabels, loadLines, loadSums, loadTotal } from "../../../parts/usage/load.ts";
import { loadKeyNames, loadNames, noNames } from "../../../parts/usage/names.ts";
import { nameOf, spanOf } from "../../../parts/usage/span.ts";
import { SpanFields } from "../../../parts/usage/span-fields.tsx";
import { Total } from "../../../parts/usage/total.tsx";
import { toLines } from "./csv.ts";
import { GroupTable } from "./group-table.tsx";
import { Narrowed, NarrowedReceipts } from "./narrowed.tsx";

const firstRows = 50;

/** Requests, tokens and cost of a time, grouped as the reader chooses. A row looks into what it is the sum of. */
export default function UsagePage() {
  const [now] = useState(Date.now);
  const [most, setMost] = useState(firstRows);
  const asked = { filter: readFilter(query.value), span: spanOf(query.value, "day", now) };
  const { data: labels = [] } = useQuery(loadLabels, []);
  const first = firstOf(query.value.get("by"), asked.filter);
  const second = secondOf(query.value.get("and"), first);
  const groups = [first, second];
  const what = [nameOf(asked.span), ...Object.values(asked.filter)];
  const sums = useQuery(
    (signal) => loadSums(asked, groups, most + 1, signal),
    [first, second, ...what],
    undefined,
    most,
  );
  const lines = useQuery((signal) => loadLines(asked, first, signal), [first, ...what]);
  const total = useQuery((signal) => loadTotal(asked, signal), what);
  const shown = useMemo(
    () => ({
      groups: [first, second, ...(asked.filter.key === "" ? [] : (["key"] as const))],
      accountIds: [asked.filter.account, ...(sums.data ?? []).map(({ accountId }) => accountId)],
    }),
    [sums.data, asked.filter.account, asked.filter.key],
  );
  const { data: ownNames = noNames } = useQuery((signal) => loadNames(shown, signal), [], undefined, shown);
  const { data: keyNames = noNames } = useQuery((signal) => loadKeyNames(shown, signal), [], undefined, shown);
  const names = useMemo(() => new Map([...ownNames, ...keyNames]), [ownNames, keyNames]);
  return (
    <Page
      title="Usage"
      lead="What requests cost, in hours or days of UTC. A row looks into what it is the sum of."
      actions={
        sums.data &&
        sums.data.length > 0 && (
          <CsvButton name="usage" load={async (signal) => toLines(await loadAll(asked, groups, signal))} />
        )
      }
    >
      <div class="fields filter across-page">
        <SpanFields span={asked.span} />
        <Select
          label="By"
          name="by"
          value={first}
          options={firstOptions(labels, asked.filter)}
          onChange={(value) => setQuery({ by: value, ...(value === second ? { and: "" } : {}) })}
        />
        <Select
          label="And by"
          name="and"
          value={second ?? ""}
          options={secondOptions(first)}
          onChange={(value) => setQuery({ and: value })}
        />
      </div>
      <Narrowed filter={asked.filter} names={names} />
      <Answer query={total}>
        {(sum) =>
          sum.requests === 0n ? (
            <Empty title="Nothing was used in this time">
              Choose a longer period, or send a request from the <a href="/playground">playground</a>.
            </Empty>
          ) : (
            <>
              <Total total={sum} />
              <Answer query={lines}>{(all) => <LinesPlot lines={all} names={names} span={asked.span} />}</Answer>
              <Answer query={sums}>
                {(rows) => (
                  <GroupTable
                    rows={rows.slice(0, most)}
                    hasMore={rows.length > most}
                    total={sum}
                    first={first}
                    second={second}
                    names={names}
                    onMore={() => setMost(most * 4)}
                  />
                )}
              </Answer>
              <NarrowedReceipts asked={asked} />
            </>
          )
        }
      </Answer>
    </Page>
  );
}
