import type { ListMonthsResponse, Month } from "#gen/tollgate/metering/v1/month_pb.js";
import { monthCsv, monthDocument, monthPage } from "../../../lib/money/month-statement.ts";
import { metering } from "../../contract/clients.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Amount } from "../figures/amount.tsx";
import { Table } from "../figures/table.tsx";
import { saveFile } from "../files/save-file.ts";
import { Section } from "../frame/page.tsx";

/** What the account paid, used and owed, month by month, to be saved as a page to print or as a file. */
export function Months({ accountId }: { readonly accountId: string }) {
  const query = useQuery((signal) => metering.listMonths({ accountId }, { signal }), [accountId]);
  return (
    <Section title="Months">
      <Answer query={query}>
        {(found) =>
          found.months.length === 0 ? (
            <Empty title="There is no month yet">A month is listed from its first day.</Empty>
          ) : (
            <Table
              caption="Months in UTC, with what was owed at the end"
              rows={found.months}
              keyOf={({ month }) => month}
              columns={[
                {
                  name: "Month",
                  isHeader: true,
                  show: ({ month, isOver }) => (isOver ? month : `${month}, so far`),
                },
                { name: "Paid", isNumber: true, show: (of) => <Amount pico={BigInt(of.topupsPicoUsd)} /> },
                { name: "Used", isNumber: true, show: (of) => <Amount pico={BigInt(of.chargedPicoUsd)} /> },
                { name: "Owed", isNumber: true, show: (of) => <Amount pico={BigInt(of.owedPicoUsd)} name="owed" /> },
                {
                  name: "Save",
                  isNameHidden: true,
                  isNumber: true,
                  show: (of) => <SaveMonth whose={found} month={of} />,
                },
              ]}
            />
          )
        }
      </Answer>
    </Section>
  );
}

function SaveMonth({ whose, month }: { readonly whose: ListMonthsResponse; readonly month: Month }) {
  const name = `statement-${month.month}`;
  const files = {
    Page: () => saveFile(`${name}.html`, "text/html", [monthPage(whose, month)]),
    CSV: () => saveFile(`${name}.csv`, "text/csv", [monthCsv(month)]),
    JSON: () =>
      saveFile(`${name}.json`, "application/json", [JSON.stringify(monthDocument(whose, month), undefined, 2)]),
  };
  return (
    <div class="actions">
      {Object.entries(files).map(([format, save]) => (
        <button
          key={format}
          type="button"
          class="small-button"
          aria-label={`${format} of ${month.month}`}
          onClick={save}
        >
          {format}
        </button>
      ))}
    </div>
  );
}
