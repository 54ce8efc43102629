import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { catalogue } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Badge } from "../../parts/figures/badge.tsx";

const refreshMs = 3000;

/** The inference servers that requests can go to. */
export function Engines() {
  const query = useQuery(async (signal) => (await catalogue.listServers({}, { signal })).servers, [], refreshMs);
  return (
    <Answer query={query}>
      {(servers) =>
        servers.length === 0 ? (
          <Empty title="No server was found">
            Start with <code>tollgate serve --server URL</code>, or name servers in the configuration.
          </Empty>
        ) : (
          <Found servers={servers} />
        )
      }
    </Answer>
  );
}

function Found({ servers }: { readonly servers: readonly Server[] }) {
  const isSimulated = servers.some(({ engine }) => engine === "simulator");
  return (
    <>
      <p>
        {countOf(servers.length, "server")} {servers.length === 1 ? "was" : "were"} found.{" "}
        {isSimulated && "They are simulated: they answer made-up words, and bill, without a GPU."}
      </p>
      <ul class="tags">
        {servers.map(({ id, model, state }) => (
          <li key={id}>
            <Badge tone={state === ServerState.HEALTHY ? "good" : "warn"}>{model}</Badge>
          </li>
        ))}
      </ul>
    </>
  );
}
