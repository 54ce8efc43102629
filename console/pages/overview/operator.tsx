import { useMemo } from "preact/hooks";
import { countOf, formatCount, formatRatePerSecond } from "../../format/numbers.ts";
import { Amount } from "../../parts/amount.tsx";
import { Answer } from "../../parts/answer.tsx";
import { Figure, Figures } from "../../parts/figure.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Plot } from "../../parts/plot.tsx";
import { ReceiptList } from "../../parts/receipt-list.tsx";
import { countHealthy, type Moment, useFeed } from "./feed.ts";
import { type Rates, toRates } from "./rates.ts";

/** The service, second by second. */
export function OperatorOverview() {
  const { query, moments } = useFeed();
  const rates = useMemo(() => toRates(moments), [moments]);
  return (
    <Page title="Overview" lead="Settled requests, second by second. Rates are those of the last ten seconds.">
      <Answer query={query}>
        {(newest) => (
          <>
            <Now newest={newest} rates={rates.at(-1)} />
            <Plots moments={moments} rates={rates} />
            <Today newest={newest} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function Now({ newest, rates }: { readonly newest: Moment; readonly rates: Rates | undefined }) {
  const healthy = countHealthy(newest.servers);
  const perSecond = (pick: (rates: Rates) => number) => (rates === undefined ? "–" : formatRatePerSecond(pick(rates)));
  return (
    <Figures>
      <Figure name="Requests a second">{perSecond(({ requests }) => requests)}</Figure>
      <Figure name="Tokens a second" detail={`${perSecond(({ inputTokens }) => inputTokens)} in`}>
        {perSecond(({ outputTokens }) => outputTokens)} <span class="unit-word">out</span>
      </Figure>
      <Figure name="Earned an hour" detail="at the pace of now">
        {rates === undefined ? "–" : <RoundAmount pico={rates.earnedAnHour} />}
      </Figure>
      <Figure name="In flight" detail={`${formatCount(newest.queued)} in engines' queues`}>
        {formatCount(newest.inFlight)}
      </Figure>
      <Figure name="Servers" detail={<a href="/fleet">Open the fleet</a>}>
        {healthy} <span class="unit-word">of {newest.servers.length} healthy</span>
      </Figure>
    </Figures>
  );
}

/** A pace is an estimate: cents are enough, and it says so by having no more digits. */
function RoundAmount({ pico }: { readonly pico: bigint }) {
  return <>${(Number(pico) / 1e12).toFixed(pico < 10n ** 11n ? 4 : 2)}</>;
}

function Plots({
  moments,
  rates,
}: {
  readonly moments: readonly Moment[];
  readonly rates: readonly (Rates | undefined)[];
}) {
  const times = useMemo(() => moments.map(({ at }) => at / 1000), [moments]);
  const tokens = useMemo(
    () => [
      { name: "Output", values: rates.map((rate) => rate?.outputTokens ?? null) },
      { name: "Input", values: rates.map((rate) => rate?.inputTokens ?? null) },
    ],
    [rates],
  );
  const requests = useMemo(() => [{ name: "Settled", values: rates.map((rate) => rate?.requests ?? null) }], [rates]);
  const running = useMemo(
    () => [
      { name: "In flight", values: moments.map(({ inFlight }) => inFlight) },
      { name: "Queued", values: moments.map(({ queued }) => queued) },
    ],
    [moments],
  );
  const earned = useMemo(
    () => [
      { name: "Earned", values: rates.map((rate) => (rate === undefined ? null : Number(rate.earnedAnHour) / 1e12)) },
    ],
    [rates],
  );
  return (
    <div class="columns section">
      <Plot title="Tokens a second" times={times} series={tokens} format={formatRatePerSecond} />
      <Plot title="Requests a second" times={times} series={requests} format={formatRatePerSecond} />
      <Plot
        title="Requests that run"
        times={times}
        series={running}
        format={(value) => formatCount(Math.round(value))}
      />
      <Plot title="USD an hour" times={times} series={earned} format={formatUsdAxis} />
    </div>
  );
}

function formatUsdAxis(usd: number): string {
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;
}

function Today({ newest }: { readonly newest: Moment }) {
  return (
    <>
      <Section title="Today, since midnight UTC">
        <Figures>
          <Figure name="Earned" isWide>
            <Amount pico={newest.earnedPicoUsd} name="total" />
          </Figure>
          <Figure name="Requests">{formatCount(newest.requests)}</Figure>
          <Figure name="Input tokens">{formatCount(newest.inputTokens)}</Figure>
          <Figure name="Output tokens">{formatCount(newest.outputTokens)}</Figure>
        </Figures>
      </Section>
      <Section title="Newest receipts">
        <ReceiptList filter={{}} pageSize={8} version={newest.requests} />
      </Section>
      {newest.requests === 0 && (
        <p class="below-table">
          <span>
            {countOf(newest.servers.length, "server")} found and nothing sent yet:{" "}
            <a href="/first-run">make the first request</a>.
          </span>
        </p>
      )}
    </>
  );
}
