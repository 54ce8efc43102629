import type { OverviewSample, WatchOverviewResponse } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { query, setQuery } from "../../../../app/router.ts";
import { overview } from "../../../../contract/clients.ts";
import { Failure } from "../../../../parts/calls/answer.tsx";
import { useStream } from "../../../../parts/calls/use-stream.ts";
import { Page } from "../../../../parts/frame/page.tsx";
import { Welcome } from "../welcome.tsx";
import { Now } from "./now.tsx";
import { Past } from "./past.tsx";
import { Plots } from "./plots.tsx";
import { live, type Range, rangeOf, ranges } from "./ranges.ts";
import { Refusals } from "./refusals.tsx";
import { Today } from "./today.tsx";
import { Troubles } from "./troubles.tsx";
import { Who } from "./who.tsx";

/** Samples that plots show: five minutes, one sample a second. */
const kept = 300;
const minute = 60;

/** The service, second by second. */
export function OperatorOverview() {
  const { state: samples, error } = useStream(
    (signal) => overview.watchOverview({}, { signal }),
    (before: readonly OverviewSample[] | undefined, message: WatchOverviewResponse) =>
      [...(before ?? []), ...message.samples].slice(-kept),
  );
  const newest = samples?.at(-1);
  const range = rangeOf(query.value.get("range"));
  return (
    <Page title="Overview" lead="The service, second by second.">
      <Troubles />
      {error !== undefined && <Failure error={error} />}
      {samples === undefined || newest === undefined ? (
        <p class="loading" aria-hidden="true">
          Loading…
        </p>
      ) : (
        <>
          <Welcome />
          <Now sample={newest} />
          <Ranges chosen={range} />
          {range === live ? (
            <>
              <Plots samples={samples} />
              <Refusals
                refusals={newest.refusals}
                requests={samples.slice(-minute).reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)}
                when="in the last minute"
              />
            </>
          ) : (
            <Past range={range} />
          )}
          <Who range={range} />
          <Today />
        </>
      )}
    </Page>
  );
}

/** Chooses what plots show. It stands in the address. */
function Ranges({ chosen }: { readonly chosen: Range }) {
  return (
    <fieldset class="ranges">
      <legend class="visually-hidden">Range</legend>
      {ranges.map((range) => (
        <button
          type="button"
          key={range.value}
          class="small-button"
          aria-pressed={range === chosen}
          onClick={() => setQuery({ range: range.value })}
        >
          {range.text}
        </button>
      ))}
    </fieldset>
  );
}
