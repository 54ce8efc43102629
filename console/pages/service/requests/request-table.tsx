import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { formatMs } from "../../../format/time.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Outcome } from "../../../parts/requests/outcome.tsx";

/** A row: a request and, where the reader may know it, the payer's name. */
export interface Row {
  readonly request: Request;
  readonly account: string;
}

/** Where a request is told of: its receipt, or its reason. */
export function pageOf({ requestId, reason }: Request): string {
  return reason === "" ? `/receipts/${requestId}` : `/requests/${requestId}`;
}

interface Props {
  readonly rows: readonly Row[];
  readonly isNamed: boolean;
}

export function RequestTable({ rows, isNamed }: Props) {
  const account = {
    name: "Account",
    show: ({ request: { accountId }, account }: Row) =>
      accountId === "" ? (
        <span class="muted">none</span>
      ) : (
        <a href={`/accounts/${accountId}`}>{account ? <Clip text={account} /> : <code class="id">{accountId}</code>}</a>
      ),
  };
  return (
    <Table
      caption="Requests, newest first"
      rows={rows}
      keyOf={({ request: { requestId, at, reason } }) => `${requestId} ${at?.seconds}.${at?.nanos} ${reason}`}
      columns={[
        {
          name: "When",
          isHeader: true,
          show: ({ request }) =>
            request.requestId === "" ? (
              <Time at={request.at} />
            ) : (
              <a href={pageOf(request)}>
                <Time at={request.at} />
              </a>
            ),
        },
        { name: "Ended", show: ({ request }) => <Outcome request={request} /> },
        ...(isNamed ? [account] : []),
        { name: "Model", show: ({ request: { model } }) => (model === "" ? "–" : <Clip text={model} />) },
        {
          ...{ name: "Status", isNumber: true, isOptional: true },
          show: ({ request: { httpStatus } }) => httpStatus || "–",
        },
        {
          ...{ name: "Took", isNumber: true, isOptional: true },
          show: ({ request: { durationMs } }) => formatMs(Number(durationMs)),
        },
      ]}
    />
  );
}
