import { useMemo } from "preact/hooks";
import type { Price } from "#gen/tollgate/metering/v1/price_pb.js";
import { formatPercent } from "../../../format/numbers.ts";
import { toDate } from "../../../format/time.ts";
import { mostDecimals, Rate, tokensPerRate } from "../../../parts/figures/amount.tsx";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Plot } from "../../../parts/figures/plot.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { reasonOf } from "./reason.ts";

interface Props {
  /** Newest first. */
  readonly history: readonly Price[];
  readonly hasOutput: boolean;
}

/** USD for 1M tokens that equal one pico-USD a token. */
const usdPerPico = 1e-6;

/** A price's history, as a line and as a list of versions. */
export function History({ history, hasOutput }: Props) {
  const { times, series, busy } = useMemo(() => toSeries(history, hasOutput), [history, hasOutput]);
  const decimals = {
    input: mostDecimals(history.map((price) => price.inputPicoUsdPerToken * tokensPerRate)),
    output: mostDecimals(history.map((price) => price.outputPicoUsdPerToken * tokensPerRate)),
  };
  const output = {
    name: "Output",
    isNumber: true,
    show: (price: Price) => <Rate picoPerToken={price.outputPicoUsdPerToken} decimals={decimals.output} />,
  };
  return (
    <Section title="History">
      {history.length > 1 && (
        <>
          <Plot
            title="USD per 1M tokens"
            times={times}
            series={series}
            format={(value) => `$${value.toFixed(4)}`}
            shape="step"
          />
          {busy.values.some((value) => value !== null) && (
            <Plot
              title="Part of the capacity in use when it moved"
              times={times}
              series={[busy]}
              format={formatPercent}
              shape="step"
            />
          )}
        </>
      )}
      <Table
        caption="Versions of the price, newest first"
        rows={history}
        keyOf={(price) => price.version}
        columns={[
          { name: "Since", isHeader: true, show: (price) => <Time at={price.since} /> },
          {
            name: "Input",
            isNumber: true,
            show: (price) => <Rate picoPerToken={price.inputPicoUsdPerToken} decimals={decimals.input} />,
          },
          ...(hasOutput ? [output] : []),
          {
            name: "Base input",
            isNumber: true,
            isOptional: true,
            show: (price) => <Rate picoPerToken={price.baseInputPicoUsdPerToken} />,
          },
          { name: "Why", show: reasonOf },
          {
            name: "State",
            isOptional: true,
            show: (price) => (price.pinned ? <Badge tone="warn">Pinned</Badge> : <Badge>Moves with the load</Badge>),
          },
          { name: "Version", isNumber: true, isOptional: true, show: (price) => price.version },
        ]}
      />
    </Section>
  );
}

/** The oldest first. The last price is repeated for the present, since a price applies until the next one. */
function toSeries(history: readonly Price[], hasOutput: boolean) {
  const oldestFirst = history.toReversed();
  const last = oldestFirst.at(-1);
  const points = last === undefined ? [] : [...oldestFirst, last];
  const times = oldestFirst.map((price) => (price.since === undefined ? 0 : toDate(price.since).getTime() / 1000));
  const usd = (pico: bigint) => Number(pico) * usdPerPico;
  const input = { name: "Input", values: points.map((price) => usd(price.inputPicoUsdPerToken)) };
  const output = { name: "Output", values: points.map((price) => usd(price.outputPicoUsdPerToken)) };
  const busy = { name: "In use", values: points.map(({ utilisation }) => utilisation ?? null) };
  return { times: [...times, Date.now() / 1000], busy, series: hasOutput ? [input, output] : [input] };
}
