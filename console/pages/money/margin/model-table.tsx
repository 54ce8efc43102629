import { formatPercent } from "../../../format/numbers.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import type { Earned, ModelMargin } from "./load.ts";
import { marginOf } from "./plots.tsx";

interface Props {
  readonly models: readonly ModelMargin[];
  /** Of all models. */
  readonly total: Earned;
}

/** What each model earned beside what its servers cost. */
export function ModelTable({ models, total }: Props) {
  return (
    <Section title="By model">
      <Table
        caption="Margin by model"
        rows={models}
        keyOf={({ model }) => model}
        columns={[
          {
            name: "Model",
            isHeader: true,
            show: ({ model }) => (
              <a href={`/models/${model}`}>
                <Clip text={model} />
              </a>
            ),
          },
          { name: "Revenue", isNumber: true, show: (row) => <Amount pico={row.total.revenue} /> },
          { name: "Servers", isNumber: true, show: (row) => <Cost cost={row.total.cost} /> },
          { name: "Margin", isNumber: true, show: (row) => <Cost cost={marginOf(row.total)} /> },
          { name: "Part", isNumber: true, isOptional: true, show: (row) => partOf(row.total) },
        ]}
        foot={[
          "In all",
          <Amount key="revenue" pico={total.revenue} name="total" />,
          <Cost key="cost" cost={total.cost} />,
          <Cost key="margin" cost={marginOf(total)} />,
          partOf(total),
        ]}
      />
    </Section>
  );
}

function Cost({ cost }: { readonly cost: bigint | undefined }) {
  return cost === undefined ? <span class="muted">unknown</span> : <Amount pico={cost} />;
}

/** The part of the revenue that is left after the servers. */
export function partOf(earned: Earned): string {
  const margin = marginOf(earned);
  if (margin === undefined || earned.revenue === 0n) {
    return "–";
  }
  return margin < 0n ? "below cost" : formatPercent(Number(margin) / Number(earned.revenue));
}
