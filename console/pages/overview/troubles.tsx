import type { Trouble } from "#gen/tollgate/status/v1/status_service_pb.js";
import { troubles } from "../../app/status.ts";
import { Time } from "../../parts/figures/time.tsx";

interface Kind {
  readonly title: string;
  /** The page that mends it. */
  readonly page: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  no_server: { title: "No server is up", page: "/fleet" },
  server_down: { title: "A server is down", page: "/fleet" },
  server_cut_off: { title: "A server is cut off", page: "/fleet" },
  books_failed: { title: "The books do not hold", page: "/books" },
  books_old: { title: "The books were not proved", page: "/books" },
  dead_letters: { title: "Charges wait", page: "/books" },
  webhooks_not_taken: { title: "Webhooks are not taken", page: "/settings" },
  usage_events_not_taken: { title: "Usage events are not taken", page: "/settings" },
  database: { title: "The database is in trouble", page: "/settings" },
  clocks_apart: { title: "The clocks disagree", page: "/settings" },
};

/** A strip of what is wrong, each with the page that mends it. */
export function Troubles() {
  return (
    <div role="status" class="troubles">
      {troubles.value.map((trouble) => (
        <Strip key={`${trouble.what} ${trouble.model} ${trouble.server}`} trouble={trouble} />
      ))}
    </div>
  );
}

function Strip({ trouble: { what, model, server, reason, since } }: { readonly trouble: Trouble }) {
  const { title, page } = kinds[what] ?? { title: what, page: "/settings" };
  return (
    <p class="notice bad">
      <span>
        <strong>
          <a href={page}>{title}</a>
          {(server || model) && `: ${server || model}`}
        </strong>{" "}
        {reason}
      </span>
      <span class="small">
        since <Time at={since} />
      </span>
    </p>
  );
}
