import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListReceiptsRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { metering } from "../../contract/clients.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { MoreRows, usePages } from "../calls/more-rows.tsx";
import { Amount, mostDecimals } from "../figures/amount.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { ReceiptStatusBadge } from "./receipt-status.tsx";

type Filter = Pick<MessageInitShape<typeof ListReceiptsRequestSchema>, "accountId" | "keyId" | "model" | "from" | "to">;

interface Props {
  readonly filter: Filter;
  /** A change of it asks again. */
  readonly version?: unknown;
  /** Rows of the first page. */
  readonly pageSize?: number;
}

/** Receipts, newest first. */
export function ReceiptList({ filter, version, pageSize = 20 }: Props) {
  const pages = usePages<Receipt>(
    async (pageToken, signal) => {
      const answer = await metering.listReceipts({ ...filter, pageToken, pageSize }, { signal });
      return { rows: answer.receipts, next: answer.nextPageToken };
    },
    [filter.accountId, filter.keyId, filter.model, filter.from?.seconds, filter.to?.seconds],
    version,
  );
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No request was billed yet">
              Send one from the <a href="/playground">playground</a>; its receipt is here at once.
            </Empty>
          ) : (
            <ReceiptTable rows={rows} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "receipt")} />
    </>
  );
}

function ReceiptTable({ rows }: { readonly rows: readonly Receipt[] }) {
  const decimals = mostDecimals(rows.map((row) => row.costPicoUsd));
  return (
    <Table
      caption="Receipts"
      rows={rows}
      keyOf={(row) => row.runId + row.requestId}
      columns={[
        {
          name: "Settled",
          isHeader: true,
          show: (row) => (
            <a href={`/receipts/${row.requestId}`}>
              <Time at={row.settledAt} />
            </a>
          ),
        },
        { name: "Cost", isNumber: true, show: (row) => <Amount pico={row.costPicoUsd} decimals={decimals} /> },
        { name: "Model", show: (row) => row.model },
        { name: "Input", isNumber: true, isOptional: true, show: (row) => formatCount(row.inputTokens) },
        { name: "Output", isNumber: true, isOptional: true, show: (row) => formatCount(row.outputTokens) },
        { name: "Ended", isOptional: true, show: (row) => <ReceiptStatusBadge status={row.status} /> },
      ]}
    />
  );
}
