import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { catalogue } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Page } from "../../parts/page.tsx";
import { ServerTable } from "./server-table.tsx";

const refreshMs = 2000;
const pageSize = 1000;

/** The inference servers: how they are and what they do. */
export default function FleetPage() {
  const query = useQuery(
    async (signal) => (await catalogue.listServers({ pageSize }, { signal })).servers,
    [],
    refreshMs,
  );
  return (
    <Page title="Fleet" lead={query.data && summarize(query.data)}>
      <Answer query={query}>
        {(servers) =>
          servers.length === 0 ? (
            <Empty title="There is no inference server">
              Name servers in the configuration, or start with <code>tollgate serve --server URL</code>.
            </Empty>
          ) : (
            <ServerTable servers={servers} onChanged={query.reload} />
          )
        }
      </Answer>
    </Page>
  );
}

function summarize(servers: readonly Server[]): string {
  const inFlight = servers.reduce((all, server) => all + server.inFlight, 0);
  const models = new Set(servers.map(({ model }) => model)).size;
  return `${countOf(servers.length, "server")} of ${countOf(models, "model")}, ${countOf(inFlight, "request")} in flight.`;
}
