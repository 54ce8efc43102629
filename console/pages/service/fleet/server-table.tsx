import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { mayOwn } from "../../../app/session.ts";
import { countOf, formatCount, formatPercent } from "../../../format/numbers.ts";
import { Badge, type Tone } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Meter } from "../../../parts/figures/figure.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { DrainButton } from "./drain-button.tsx";

interface Props {
  readonly servers: readonly Server[];
  /** The number of cores whose figures are added up. */
  readonly cores: number;
  readonly onChanged: () => void;
}

const states: Readonly<Record<ServerState, { readonly word: string; readonly tone: Tone }>> = {
  [ServerState.UNSPECIFIED]: { word: "Unknown", tone: "plain" },
  [ServerState.HEALTHY]: { word: "Healthy", tone: "good" },
  [ServerState.UNHEALTHY]: { word: "Unhealthy", tone: "bad" },
  [ServerState.DRAINING]: { word: "Draining", tone: "warn" },
};
const breakers: Readonly<Record<BreakerState, { readonly word: string; readonly meaning: string }>> = {
  [BreakerState.UNSPECIFIED]: { word: "–", meaning: "It is not known." },
  [BreakerState.CLOSED]: { word: "closed", meaning: "All requests pass." },
  [BreakerState.OPEN]: { word: "open", meaning: "Requests failed on it: none pass for a while." },
  [BreakerState.HALF_OPEN]: { word: "trying", meaning: "One request may pass, to see whether it works again." },
};

/** A server's weight without configuration. */
const usualWeight = 1;

export function ServerTable({ servers, cores, onChanged }: Props) {
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (server: Server) => <DrainButton server={server} onChanged={onChanged} />,
  };
  return (
    <Table
      caption="Inference servers"
      rows={servers}
      keyOf={(server) => server.id}
      columns={[
        { name: "Server", isHeader: true, show: (server) => <ServerName server={server} /> },
        { name: "State", show: (server) => <State server={server} /> },
        ...(mayOwn.value ? [actions] : []),
        { name: "In flight", isNumber: true, show: (server) => <Load server={server} isShared={cores > 1} /> },
        { name: "Waiting", isNumber: true, show: ({ queued }) => (queued === undefined ? "–" : formatCount(queued)) },
        { name: "KV cache", isNumber: true, show: ({ kvUsage }) => <Part part={kvUsage} /> },
        {
          name: "Cache hits",
          isNumber: true,
          show: ({ cacheHitRate }) => (cacheHitRate === undefined ? "–" : formatPercent(cacheHitRate)),
        },
        {
          name: "Breaker",
          show: ({ breaker }) => <span title={breakers[breaker].meaning}>{breakers[breaker].word}</span>,
        },
      ]}
    />
  );
}

function ServerName({ server }: { readonly server: Server }) {
  return (
    <div class="two-lines">
      <code class="address">{server.url}</code>
      <span class="muted small">
        <Clip text={server.model} />
      </span>
      <span class="muted small">
        {server.engine}
        {server.weight !== usualWeight && <Weight weight={server.weight} />}
        {server.priorities && <span title="It is told the class of each request."> · by priority</span>}
      </span>
    </div>
  );
}

/** The server's weight, where it is not the usual one. */
function Weight({ weight }: { readonly weight: number }) {
  const meaning =
    weight === 0
      ? "It gets what no other server of its model can take."
      : "Its part of the model's requests, beside servers of other weights.";
  return <span title={meaning}> · {weight === 0 ? "spare" : `weight ${weight}`}</span>;
}

function State({ server }: { readonly server: Server }) {
  const { word, tone } = states[server.state];
  return (
    <div class="two-lines">
      <Badge tone={tone}>{word}</Badge>
      {server.lastError !== "" && server.state !== ServerState.HEALTHY && (
        <span class="small muted last-error" title={server.lastError}>
          {server.lastError}
        </span>
      )}
      {server.avoidedElsewhere > 0 && (
        <span class="small muted">
          {countOf(server.avoidedElsewhere, "other core gives", "other cores give")} it no work
        </span>
      )}
    </div>
  );
}

/** A server's load from all cores. The title contains this core's part. */
function Load({ server, isShared }: { readonly server: Server; readonly isShared: boolean }) {
  const { inFlight, inFlightElsewhere, capacity } = server;
  const running = inFlight + inFlightElsewhere;
  const parts = `${formatCount(inFlight)} from the core that answers, ${formatCount(inFlightElsewhere)} from others`;
  return (
    <div class="with-meter" title={isShared ? parts : undefined}>
      {formatCount(running)} of {formatCount(capacity)}
      <Meter part={capacity === 0 ? 0 : running / capacity} />
    </div>
  );
}

function Part({ part }: { readonly part: number | undefined }) {
  if (part === undefined) {
    return <>–</>;
  }
  return (
    <div class="with-meter">
      {formatPercent(part)}
      <Meter part={part} />
    </div>
  );
}
