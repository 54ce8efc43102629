import { useState } from "preact/hooks";
import type { Setting } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { settings } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Badge } from "../../parts/figures/badge.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Field } from "../../parts/forms/field.tsx";

/** Every value that the core started with, and where it comes from. */
export function Configuration() {
  const [sought, setSought] = useState("");
  const query = useQuery(async (signal) => (await settings.getSettings({}, { signal })).settings, []);
  return (
    <Answer query={query}>
      {(all) => {
        const rows = all.filter(({ name, origin }) => `${name} ${origin}`.includes(sought.trim().toLowerCase()));
        return all.length === 0 ? (
          <Empty title="The core keeps its configuration to itself" />
        ) : (
          <div class="stack">
            <div class="filter">
              <Field label="Find" name="find" value={sought} onInput={setSought} placeholder="such as fleet or file" />
            </div>
            <Settings rows={rows} />
            <p class="below-table">{countOf(rows.length, "value")}</p>
          </div>
        );
      }}
    </Answer>
  );
}

function Settings({ rows }: { readonly rows: readonly Setting[] }) {
  return (
    <Table
      caption="Configuration"
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { name: "Setting", isHeader: true, show: ({ name }) => <code>{name}</code> },
        { name: "Value", show: ({ value }) => <code class="value">{value}</code> },
        {
          name: "From",
          show: ({ origin }) =>
            origin === "default" ? <span class="muted">default</span> : <Origin origin={origin} />,
        },
      ]}
    />
  );
}

/** A file by its name and line; the title has its folder, too. */
function Origin({ origin }: { readonly origin: string }) {
  return (
    <span title={origin}>
      <Badge tone="good">{origin.split("/").at(-1)}</Badge>
    </span>
  );
}
