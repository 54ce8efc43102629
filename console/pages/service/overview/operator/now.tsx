import type { OverviewSample } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { formatPace } from "../../../../format/money.ts";
import { countOf, formatCount, formatPercent, formatRatePerSecond } from "../../../../format/numbers.ts";
import { formatAgo, formatMs, toDate } from "../../../../format/time.ts";
import { Badge } from "../../../../parts/figures/badge.tsx";
import { Figure, Figures } from "../../../../parts/figures/figure.tsx";

/** The newest sample, as figures. */
export function Now({ sample }: { readonly sample: OverviewSample }) {
  const { firstTokenP50Seconds: p50, firstTokenP99Seconds: p99 } = sample;
  return (
    <Figures>
      <Figure name="Tokens a second" detail={`${formatRatePerSecond(sample.inputTokensPerSecond)} in`}>
        {formatRatePerSecond(sample.outputTokensPerSecond)} <span class="unit-word">out</span>
      </Figure>
      <Figure name="Requests a second" detail={countOf(sample.cores, "core")}>
        {formatRatePerSecond(sample.requestsPerSecond)}
      </Figure>
      <Figure
        name="First token, median"
        detail={p99 === undefined ? "none in the last minute" : `p99 ${formatMs(p99 * 1000)}`}
      >
        {p50 === undefined ? "–" : formatMs(p50 * 1000)}
      </Figure>
      <Figure name="In flight" detail={`${formatCount(sample.queued)} waiting`}>
        {formatCount(sample.inFlight)} <span class="unit-word">of {formatCount(sample.capacity)}</span>
      </Figure>
      <Money sample={sample} />
      <Books sample={sample} />
    </Figures>
  );
}

/** What an hour earns, beside what the servers cost in an hour. */
function Money({ sample }: { readonly sample: OverviewSample }) {
  const { earnedPicoUsdPerHour: earned, serversPicoUsdPerHour: cost } = sample;
  if (cost === undefined) {
    return (
      <Figure name="Earned an hour" detail="No server cost is configured">
        {formatPace(earned)}
      </Figure>
    );
  }
  const part = earned === 0n ? undefined : Number(earned - cost) / Number(earned);
  return (
    <>
      <Figure name="Earned an hour" detail={`Servers cost ${formatPace(cost)}`}>
        {formatPace(earned)}
      </Figure>
      <Figure
        name="Margin an hour"
        detail={<a href="/margin">{part !== undefined && part >= 0 ? formatPercent(part) : "below cost"}</a>}
      >
        {formatPace(earned - cost)}
      </Figure>
    </>
  );
}

function Books({ sample }: { readonly sample: OverviewSample }) {
  const { booksProvedAt, booksOk } = sample;
  if (booksProvedAt === undefined) {
    return (
      <Figure name="Books" detail={<a href="/books">Prove them now</a>}>
        <Badge>Not proved yet</Badge>
      </Figure>
    );
  }
  return (
    <Figure name="Books" detail={<a href="/books">Proved {formatAgo(toDate(booksProvedAt))}</a>}>
      <Badge tone={booksOk ? "good" : "bad"}>{booksOk ? "They hold" : "They do not hold"}</Badge>
    </Figure>
  );
}
