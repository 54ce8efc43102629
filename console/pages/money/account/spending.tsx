import { useState } from "preact/hooks";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Section } from "../../../parts/frame/page.tsx";
import { LinesPlot } from "../../../parts/usage/lines-plot.tsx";
import { loadLines, loadTotal } from "../../../parts/usage/load.ts";
import { noNames } from "../../../parts/usage/names.ts";
import { lastDays } from "../../../parts/usage/span.ts";
import { Total } from "../../../parts/usage/total.tsx";

const days = 30;

/** What an account used in 30 days, by model. */
export function Spending({ accountId }: { readonly accountId: string }) {
  const [span] = useState(() => lastDays(days));
  const asked = { filter: { account: accountId, key: "", model: "", label: "" }, span };
  const query = useQuery(
    async (signal) => {
      const [total, lines] = await Promise.all([loadTotal(asked, signal), loadLines(asked, "model", signal)]);
      return { total, lines };
    },
    [accountId],
  );
  return (
    <Section
      title={`Usage, ${days} days`}
      actions={<a href={`/usage?account=${accountId}&period=month`}>Open the usage</a>}
    >
      <Answer query={query}>
        {({ total, lines }) =>
          total.requests === 0n ? (
            <Empty title={`Nothing was used in ${days} days`} />
          ) : (
            <>
              <Total total={total} />
              <LinesPlot lines={lines} names={noNames} span={span} />
            </>
          )
        }
      </Answer>
    </Section>
  );
}
