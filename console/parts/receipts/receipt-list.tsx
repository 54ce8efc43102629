import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListReceiptsRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { isCustomer } from "../../app/session.ts";
import { metering } from "../../contract/clients.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { loadAccountNames } from "../account/account-names.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { lookBack } from "../calls/look-back.ts";
import { MoreRows, usePages } from "../calls/more-rows.tsx";
import { Amount, mostDecimals } from "../figures/amount.tsx";
import { Clip } from "../figures/clip.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { ReceiptStatusBadge } from "./receipt-status.tsx";

type Filter = Pick<
  MessageInitShape<typeof ListReceiptsRequestSchema>,
  "accountId" | "keyId" | "model" | "labelName" | "labelValue" | "from" | "to"
>;

interface Props {
  readonly filter: Filter;
  /** A change of it loads the list again. */
  readonly version?: unknown;
  /** The number of rows on the first page. */
  readonly pageSize?: number;
}

/** A row: a receipt and, where several accounts are listed and the reader may know it, the payer's name. */
interface Row {
  readonly receipt: Receipt;
  readonly account: string;
}

/** Receipts, newest first. */
export function ReceiptList({ filter, version, pageSize = 20 }: Props) {
  const isNamed = !isCustomer.value && filter.accountId === undefined && filter.keyId === undefined;
  const pages = usePages<Row>(
    async (pageToken, signal) => {
      const answer = await lookBack(
        pageToken,
        (token) => metering.listReceipts({ ...filter, pageToken: token, pageSize }, { signal }),
        ({ receipts }) => receipts.length === 0,
      );
      const ids = isNamed ? answer.receipts.map(({ accountId }) => accountId) : [];
      const names = await loadAccountNames(ids, signal);
      const rows = answer.receipts.map((receipt) => ({ receipt, account: names.get(receipt.accountId) ?? "" }));
      return { rows, next: answer.nextPageToken };
    },
    [
      ...[filter.accountId, filter.keyId, filter.model, filter.labelName, filter.labelValue],
      ...[filter.from?.seconds, filter.to?.seconds],
    ],
    version,
  );
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={pages.hasMore ? "No receipt is like that so far" : "No request was billed yet"}>
              Send one from the <a href="/playground">playground</a>; its receipt is here at once.
            </Empty>
          ) : (
            <ReceiptTable rows={rows} isNamed={isNamed} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "receipt")} />
    </>
  );
}

function ReceiptTable({ rows, isNamed }: { readonly rows: readonly Row[]; readonly isNamed: boolean }) {
  const decimals = mostDecimals(rows.map(({ receipt }) => receipt.costPicoUsd));
  const account = {
    name: "Account",
    show: ({ receipt: { accountId }, account }: Row) => (
      <a href={`/accounts/${accountId}`}>{account ? <Clip text={account} /> : <code class="id">{accountId}</code>}</a>
    ),
  };
  const count = (name: string, pick: (receipt: Receipt) => bigint) => ({
    name,
    isNumber: true,
    isOptional: true,
    show: ({ receipt }: Row) => formatCount(pick(receipt)),
  });
  return (
    <Table
      caption="Receipts"
      rows={rows}
      keyOf={({ receipt }) => receipt.runId + receipt.requestId}
      columns={[
        {
          name: "When",
          isHeader: true,
          show: ({ receipt }) => (
            <a href={`/receipts/${receipt.requestId}`}>
              <Time at={receipt.settledAt} />
            </a>
          ),
        },
        {
          name: "Cost",
          isNumber: true,
          show: ({ receipt }) => <Amount pico={receipt.costPicoUsd} decimals={decimals} />,
        },
        ...(isNamed ? [account] : []),
        { name: "Model", show: ({ receipt }) => <Clip text={receipt.model} /> },
        count("Input", ({ inputTokens }) => inputTokens),
        count("Output", ({ outputTokens }) => outputTokens),
        { name: "Status", isOptional: true, show: ({ receipt }) => <ReceiptStatusBadge status={receipt.status} /> },
      ]}
    />
  );
}
