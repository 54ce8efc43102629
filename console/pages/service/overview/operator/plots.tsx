import { useMemo } from "preact/hooks";
import type { OverviewSample } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { formatUsdValue } from "../../../../format/money.ts";
import { formatCount, formatRatePerSecond } from "../../../../format/numbers.ts";
import { formatMs, toDate } from "../../../../format/time.ts";
import { Plot } from "../../../../parts/figures/plot.tsx";
import type { Series } from "../../../../parts/figures/series.ts";

const usdPerPico = 1e-12;

/** The service over time. */
export function Plots({ samples }: { readonly samples: readonly OverviewSample[] }) {
  const times = useMemo(() => samples.map(({ at }) => (at === undefined ? 0 : toDate(at).getTime() / 1000)), [samples]);
  const series = useMemo(() => toSeries(samples), [samples]);
  return (
    <div class="columns section">
      <Plot title="Tokens a second" times={times} series={series.tokens} format={formatRatePerSecond} />
      <Plot title="First token" times={times} series={series.firstToken} format={formatMs} />
      <Plot
        title="Requests"
        times={times}
        series={series.requests}
        format={(value) => formatCount(Math.round(value))}
        isWhole
      />
      <Plot title="USD an hour" times={times} series={series.money} format={formatUsdValue} />
    </div>
  );
}

function toSeries(samples: readonly OverviewSample[]) {
  const line = (name: string, pick: (sample: OverviewSample) => number | undefined): Series => ({
    name,
    values: samples.map((sample) => pick(sample) ?? null),
  });
  const toMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  const toUsd = (pico: bigint | undefined) => (pico === undefined ? undefined : Number(pico) * usdPerPico);
  const hasCost = samples.at(-1)?.serversPicoUsdPerHour !== undefined;
  return {
    tokens: [
      line("Output", (sample) => sample.outputTokensPerSecond),
      line("Input", (sample) => sample.inputTokensPerSecond),
    ],
    firstToken: [
      line("Median", (sample) => toMs(sample.firstTokenP50Seconds)),
      line("p99", (sample) => toMs(sample.firstTokenP99Seconds)),
    ],
    requests: [line("In flight", ({ inFlight }) => inFlight), line("Waiting", ({ queued }) => queued)],
    money: [
      line("Earned", (sample) => toUsd(sample.earnedPicoUsdPerHour)),
      ...(hasCost ? [line("Servers", (sample) => toUsd(sample.serversPicoUsdPerHour))] : []),
    ],
  };
}
