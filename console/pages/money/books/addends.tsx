import { type Addend, BooksSum } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { query, setQuery } from "../../../app/router.ts";
import { books } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Amount, mostDecimals } from "../../../parts/figures/amount.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Section } from "../../../parts/frame/page.tsx";

/** The sums that can be opened here, by their names in the address. */
const sums: Readonly<Record<string, { readonly sum: BooksSum; readonly title: string }>> = {
  granted: { sum: BooksSum.GRANTED, title: "Paid in and granted, by account" },
  refunded: { sum: BooksSum.REFUNDED, title: "Refunded, by account" },
  expired: { sum: BooksSum.EXPIRED, title: "Expired, by account" },
  owed: { sum: BooksSum.DEBT, title: "Owed, by account" },
};

/** The accounts whose amounts make up the sum in the address. Nothing where the address names no sum. */
export function Addends() {
  const opened = sums[query.value.get("sum") ?? ""];
  return opened === undefined ? null : <AddendList key={opened.sum} {...opened} />;
}

function AddendList({ sum, title }: { readonly sum: BooksSum; readonly title: string }) {
  const pages = usePages<Addend>(
    async (pageToken, signal) => {
      const answer = await books.listAddends({ sum, pageToken, pageSize: 50 }, { signal });
      return { rows: answer.addends, next: answer.nextPageToken };
    },
    [sum],
  );
  return (
    <Section
      title={title}
      actions={
        <button type="button" class="small-button" onClick={() => setQuery({ sum: "" })}>
          Close
        </button>
      }
    >
      <Answer query={pages}>{(rows) => <AddendTable rows={rows} title={title} />}</Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "account")} />
    </Section>
  );
}

function AddendTable({ rows, title }: { readonly rows: readonly Addend[]; readonly title: string }) {
  if (rows.length === 0) {
    return <Empty title="No account has any">The sum is zero.</Empty>;
  }
  const amount = (row: Addend) => BigInt(row.amountPicoUsd);
  const decimals = mostDecimals(rows.map(amount));
  return (
    <Table
      caption={title}
      rows={rows}
      keyOf={(row) => row.accountId}
      columns={[
        {
          name: "Account",
          isHeader: true,
          show: (row) => (
            <a href={`/accounts/${row.accountId}`}>
              <Clip text={row.accountName || row.accountId} />
            </a>
          ),
        },
        {
          name: "Amount",
          isNumber: true,
          show: (row) => <Amount pico={amount(row)} decimals={decimals} />,
        },
      ]}
    />
  );
}
