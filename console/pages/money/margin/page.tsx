import { useState } from "preact/hooks";
import { query } from "../../../app/router.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { Figure, Figures } from "../../../parts/figures/figure.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { nameOf, spanOf } from "../../../parts/usage/span.ts";
import { SpanFields } from "../../../parts/usage/span-fields.tsx";
import { addUp, loadMargins, type ModelMargin } from "./load.ts";
import { ModelTable, partOf } from "./model-table.tsx";
import { MarginPlots, marginOf } from "./plots.tsx";

/** What each model earns beside what its servers cost. */
export default function MarginPage() {
  const [now] = useState(Date.now);
  const span = spanOf(query.value, "month", now);
  const margins = useQuery((signal) => loadMargins(span, signal), [nameOf(span)]);
  return (
    <Page title="Margin" lead="What each model earned beside what its servers cost, in hours or days of UTC.">
      <div class="fields filter across-page">
        <SpanFields span={span} />
      </div>
      <Answer query={margins}>
        {(models) =>
          models.length === 0 ? (
            <Empty title="No model is served, and none had revenue" />
          ) : (
            <>
              <Sums models={models} />
              <MarginPlots models={models} span={span} />
              <ModelTable models={models} total={addUp(models.map(({ total }) => total))} />
            </>
          )
        }
      </Answer>
    </Page>
  );
}

function Sums({ models }: { readonly models: readonly ModelMargin[] }) {
  const total = addUp(models.map((model) => model.total));
  const margin = marginOf(total);
  const unpriced = models.filter((model) => model.total.cost === undefined);
  return (
    <>
      <Figures>
        <Figure name="Revenue" isWide>
          <Amount pico={total.revenue} name="total" />
        </Figure>
        <Figure name="Servers">{total.cost === undefined ? "–" : <Amount pico={total.cost} />}</Figure>
        <Figure name="Margin" detail={margin === undefined ? "No server has a cost" : partOf(total)}>
          {margin === undefined ? "–" : <Amount pico={margin} />}
        </Figure>
      </Figures>
      {unpriced.length > 0 && (
        <p class="notice">
          The cost of servers is unknown for {unpriced.map(({ model }) => model).join(", ")}: give each of their servers{" "}
          <code>usd_per_hour</code> in the configuration.
        </p>
      )}
    </>
  );
}
