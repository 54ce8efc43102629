import { useState } from "preact/hooks";
import type { Setting } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { settings } from "../../../contract/clients.ts";
import { countOf, formatCount } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Badge } from "../../../parts/figures/badge.tsx";
import { FirstRows } from "../../../parts/figures/first-rows.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Field } from "../../../parts/forms/field.tsx";

/** Every setting with which the core started, and where it comes from. */
export function Configuration() {
  const [sought, setSought] = useState("");
  const [areAllShown, setAllShown] = useState(false);
  const query = useQuery(async (signal) => (await settings.getSettings({}, { signal })).settings, []);
  return (
    <Answer query={query}>
      {(all) => {
        const isShown = ({ origin }: Setting) => areAllShown || sought !== "" || origin !== "default";
        const isSought = ({ name, origin }: Setting) => `${name} ${origin}`.includes(sought.trim().toLowerCase());
        const rows = all.filter((setting) => isShown(setting) && isSought(setting));
        return all.length === 0 ? (
          <Empty title="The core keeps its configuration to itself" />
        ) : (
          <div class="stack">
            <div class="filter">
              <Field label="Find" name="find" value={sought} onInput={setSought} placeholder="such as fleet or file" />
            </div>
            <div>
              {rows.length === 0 ? (
                <Empty title="No value is other than its default" />
              ) : (
                <FirstRows rows={rows}>{(shown) => <Settings rows={shown} />}</FirstRows>
              )}
              <div class="below-table">
                <span>
                  {formatCount(rows.length)} of {countOf(all.length, "value")}
                </span>
                <button type="button" class="small-button" onClick={() => setAllShown(!areAllShown)}>
                  {areAllShown ? "Only what differs from the default" : "Show defaults, too"}
                </button>
              </div>
            </div>
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
        { name: "Setting", isHeader: true, show: ({ name }) => <code class="setting">{name}</code> },
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

/** A file by its name and line. The title has its folder, too. */
function Origin({ origin }: { readonly origin: string }) {
  return (
    <span class="origin" title={origin}>
      <Badge tone="good">{origin.split("/").at(-1)}</Badge>
    </span>
  );
}
