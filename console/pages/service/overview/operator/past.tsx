import { overview } from "../../../../contract/clients.ts";
import { Answer } from "../../../../parts/calls/answer.tsx";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Plots } from "./plots.tsx";
import type { Range } from "./ranges.ts";
import { Refusals } from "./refusals.tsx";
import { addRefusals } from "./shares.ts";

const refreshMs = 30_000;

/** The plots of a longer range, of all cores together. */
export function Past({ range }: { readonly range: Range }) {
  const query = useQuery(
    (signal) => overview.getHistory({ spanSeconds: range.seconds }, { signal }),
    [range],
    refreshMs,
  );
  return (
    <Answer query={query}>
      {({ samples, stepSeconds }) => (
        <>
          <Plots samples={samples} />
          <Refusals
            refusals={addRefusals(samples)}
            requests={samples.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond * stepSeconds, 0)}
            when={`in the last ${range.text}`}
          />
        </>
      )}
    </Answer>
  );
}
