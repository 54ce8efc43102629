import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { catalogue } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";

const refreshMs = 3000;

/** The inference servers that can get requests. */
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
        {countByModel(servers).map(({ model, all, ready }) => (
          <li key={model}>
            <Badge tone={ready > 0 ? "good" : "warn"}>
              <Clip text={model} />
              {ready < all && `${ready} of ${all} ready`}
            </Badge>
          </li>
        ))}
      </ul>
    </>
  );
}

interface Served {
  readonly model: string;
  /** The model's servers. */
  readonly all: number;
  /** Servers that get work. */
  readonly ready: number;
}

/** Each model once, in the order of the servers. */
function countByModel(servers: readonly Server[]): readonly Served[] {
  return [...Map.groupBy(servers, ({ model }) => model)].map(([model, own]) => ({
    model,
    all: own.length,
    ready: own.filter(({ state }) => state === ServerState.HEALTHY).length,
  }));
}
