import type { OverviewSample, WatchOverviewResponse } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { overview } from "../../contract/clients.ts";
import { Failure } from "../../parts/calls/answer.tsx";
import { useStream } from "../../parts/calls/use-stream.ts";
import { Page } from "../../parts/page.tsx";
import { Now } from "./now.tsx";
import { Plots } from "./plots.tsx";
import { Refusals } from "./refusals.tsx";
import { Today } from "./today.tsx";
import { Troubles } from "./troubles.tsx";
import { Welcome } from "./welcome.tsx";

/** Samples that plots show: five minutes, one sample a second. */
const kept = 300;

/** The service, second by second. */
export function OperatorOverview() {
  const { state: samples, error } = useStream(
    (signal) => overview.watchOverview({}, { signal }),
    (before: readonly OverviewSample[] | undefined, message: WatchOverviewResponse) =>
      [...(before ?? []), ...message.samples].slice(-kept),
  );
  const newest = samples?.at(-1);
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
          <Plots samples={samples} />
          <Refusals refusals={newest.refusals} />
          <Today />
        </>
      )}
    </Page>
  );
}
