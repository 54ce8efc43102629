import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import type { Month } from "#gen/tollgate/metering/v1/month_pb.js";
import { monthCsv, monthDocument, monthPage } from "#lib/money/month-statement.ts";

const whose = { accountId: "a1", accountName: "Ada & <Sons>" };
const month: Month = {
  $typeName: "tollgate.metering.v1.Month",
  month: "2026-10",
  until: timestampFromMs(Date.UTC(2026, 10, 1)),
  isOver: true,
  openingPicoUsd: "-1000000000000",
  topupsPicoUsd: "5000000000000",
  grantsPicoUsd: "0",
  refundsPicoUsd: "250000000000",
  lapsedPicoUsd: "0",
  chargedPicoUsd: "10000000000001",
  closingPicoUsd: "-6250000000001",
  owedPicoUsd: "6250000000001",
  models: [
    {
      $typeName: "tollgate.metering.v1.MonthOfModel",
      model: '=1+"1"',
      requests: 3n,
      inputTokens: 4n,
      outputTokens: 5n,
      costPicoUsd: "10000000000001",
    },
  ],
};

test("a document has the balances, the movements, and what is owed", () => {
  expect(monthDocument(whose, month)).toMatchObject({
    ...{ month: "2026-10", account_id: "a1", until: "2026-11-01T00:00:00.000Z", opening_usd: "-1.00" },
    ...{ topups_usd: "5.00", refunds_usd: "0.25", closing_usd: "-6.250000000001", owed_usd: "6.250000000001" },
    models: [{ requests: 3, input_tokens: 4, output_tokens: 5, cost_usd: "10.000000000001" }],
  });
});

test("a table has a line for each sum, which add up, and no formula", () => {
  expect(monthCsv(month).split("\r\n")).toEqual([
    "What,Requests,Input tokens,Output tokens,USD",
    "Opening balance,,,,-1.00",
    "Payments,,,,5.00",
    "Gifts,,,,0.00",
    "Refunds,,,,-0.25",
    "Lapsed,,,,0.00",
    `"'=1+""1""",3,4,5,-10.000000000001`,
    "Closing balance,,,,-6.250000000001",
    "Owed,,,,6.250000000001",
  ]);
});

test("a page escapes what others wrote", () => {
  const page = monthPage(whose, month);
  expect(page).toContain("Ada &amp; &lt;Sons&gt;");
  expect(page).toContain("<td>6.250000000001</td>");
  expect(page).toContain("The whole month in UTC");
});
