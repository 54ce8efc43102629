import type { Trouble } from "#gen/tollgate/status/v1/status_service_pb.js";
import { troubles } from "../../../../app/status.ts";
import { Time } from "../../../../parts/figures/time.tsx";
import { troubleKinds } from "./trouble-kinds.ts";

/** A strip of what is wrong, each with the page that mends it, or what to do. */
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
  const { title, page, advice } = troubleKinds[what] ?? { title: what };
  return (
    <div class="notice bad">
      <span>
        <strong>
          {page === undefined ? title : <a href={page}>{title}</a>}
          {(server || model) && `: ${server || model}`}
        </strong>{" "}
        {reason} {advice}
      </span>
      <span class="small">
        since <Time at={since} />
      </span>
    </div>
  );
}
