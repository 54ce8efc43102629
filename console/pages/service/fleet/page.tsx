import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { query as address, setQuery } from "../../../app/router.ts";
import { catalogue } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { FirstRows } from "../../../parts/figures/first-rows.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Source } from "../../../parts/settings/source.tsx";
import { ServerTable } from "./server-table.tsx";

const refreshMs = 2000;
const pageSize = 1000;
/** Up to this many servers fit on a screen and need no search field. */
const atAGlance = 12;

interface Fleet {
  /** Servers that need attention come first. */
  readonly servers: readonly Server[];
  /** The number of cores whose figures are added up. */
  readonly cores: number;
}

/** The inference servers: their state and their load. What is looked for among them is in the address. */
export default function FleetPage() {
  const query = useQuery(load, [], refreshMs);
  const sought = address.value.get("find") ?? "";
  return (
    <Page title="Fleet" lead={query.data && summarize(query.data)}>
      <Answer query={query}>
        {({ servers, cores }) => {
          const found = servers.filter((server) => isFound(server, sought));
          return servers.length === 0 ? (
            <Empty title="There is no inference server">
              Name servers in the configuration, or start with <code>tollgate serve --server URL</code>.
            </Empty>
          ) : (
            <>
              {(servers.length > atAGlance || sought !== "") && (
                <div class="filter">
                  <Field
                    label="Find a server"
                    name="find"
                    value={sought}
                    onInput={(find) => setQuery({ find })}
                    placeholder="part of its address, model, engine or state"
                  />
                </div>
              )}
              {found.length === 0 ? (
                <Empty title="No server is called so" />
              ) : (
                <FirstRows rows={found}>
                  {(shown) => <ServerTable servers={shown} cores={cores} onChanged={query.reload} />}
                </FirstRows>
              )}
              <Source what="The list of servers" list="models" />
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

async function load(signal: AbortSignal): Promise<Fleet> {
  const { servers, cores } = await catalogue.listServers({ pageSize }, { signal });
  return { servers: [...servers.filter(needsEye), ...servers.filter((server) => !needsEye(server))], cores };
}

/** Whether a server needs attention. A drained server does not: an operator drained it. */
function needsEye({ state, breaker, avoidedElsewhere }: Server): boolean {
  return state === ServerState.UNHEALTHY || breaker !== BreakerState.CLOSED || avoidedElsewhere > 0;
}

function isFound({ id, url, model, engine, state }: Server, sought: string): boolean {
  return `${id} ${url} ${model} ${engine} ${ServerState[state]}`.toLowerCase().includes(sought.trim().toLowerCase());
}

function summarize({ servers, cores }: Fleet): string {
  const running = servers.reduce((all, server) => all + server.inFlight + server.inFlightElsewhere, 0);
  const models = new Set(servers.map(({ model }) => model)).size;
  const whose = cores > 1 ? ` from ${cores} cores together` : "";
  const troubled = servers.filter(needsEye).length;
  return [
    `${countOf(servers.length, "server")} of ${countOf(models, "model")}, ${countOf(running, "request")} in flight${whose}.`,
    ...(troubled > 0 && servers.length > atAGlance ? [`${countOf(troubled, "server")} to look at, listed first.`] : []),
  ].join(" ");
}
