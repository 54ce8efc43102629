import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { audit } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Change } from "./change.tsx";
import { readNames, Target } from "./target.tsx";

/** Who changed what, and when. */
export default function AuditPage() {
  const pages = usePages<AuditEvent>(async (pageToken, signal) => {
    const answer = await audit.listAuditEvents({ pageToken, pageSize: 50 }, { signal });
    return { rows: answer.auditEvents, next: answer.nextPageToken };
  }, []);
  return (
    <Page
      title="Audit"
      lead={
        isCustomer.value
          ? "Every change that members and management keys made in your account."
          : "Every change that was made. Rows are written once; the database refuses to change them."
      }
    >
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nothing was changed yet">A top-up, a new key or a price would be the first row.</Empty>
          ) : (
            <Changes rows={rows} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "change")} />
    </Page>
  );
}

function Changes({ rows }: { readonly rows: readonly AuditEvent[] }) {
  const names = readNames(rows);
  return (
    <Table
      caption="Changes, newest first"
      rows={rows}
      keyOf={(event) => event.id}
      columns={[
        { name: "When", show: (event) => <Time at={event.at} /> },
        { name: "Who", isHeader: true, show: (event) => <Clip text={event.operator} isShort /> },
        { name: "What", show: (event) => toWords(event.method) },
        { name: "Target", isOptional: true, show: (event) => <Target event={event} names={names} /> },
        { name: "From", isOptional: true, show: (event) => event.address },
        { name: "Details", isNameHidden: true, isNumber: true, show: (event) => <Change event={event} /> },
      ]}
    />
  );
}

/** Turns "tollgate.accounts.v1.AccountsService/TopUp" into "Top up". */
function toWords(method: string): string {
  const words = (method.split("/").at(-1) ?? method).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
