import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListMonthsResponse, Month } from "#gen/tollgate/metering/v1/month_pb.js";
import { formatUsd } from "./money.ts";

// A month of an account as people file it: a document, a table for a spreadsheet, and a page to print.

/** Whose month it is. */
export type Whose = Pick<ListMonthsResponse, "accountId" | "accountName">;

const usd = (pico: string): string => formatUsd(BigInt(pico));

/** A month as a document: USD are exact decimal strings. */
export function monthDocument({ accountId, accountName }: Whose, month: Month) {
  return {
    month: month.month,
    account_id: accountId,
    account_name: accountName || null,
    until: month.until === undefined ? null : timestampDate(month.until).toISOString(),
    is_over: month.isOver,
    opening_usd: usd(month.openingPicoUsd),
    topups_usd: usd(month.topupsPicoUsd),
    grants_usd: usd(month.grantsPicoUsd),
    refunds_usd: usd(month.refundsPicoUsd),
    lapsed_usd: usd(month.lapsedPicoUsd),
    charged_usd: usd(month.chargedPicoUsd),
    closing_usd: usd(month.closingPicoUsd),
    owed_usd: usd(month.owedPicoUsd),
    models: month.models.map((model) => ({
      model: model.model,
      requests: Number(model.requests),
      input_tokens: Number(model.inputTokens),
      output_tokens: Number(model.outputTokens),
      cost_usd: usd(model.costPicoUsd),
    })),
  };
}

/** The lines of a month: what, how many requests and tokens, and what it does to the balance. */
function toRows(
  month: Month,
): (readonly [what: string, requests: string, input: string, output: string, usd: string])[] {
  const row = (what: string, pico: string, sign = "") => [what, "", "", "", amount(pico, sign)] as const;
  return [
    row("Opening balance", month.openingPicoUsd),
    row("Payments", month.topupsPicoUsd),
    row("Gifts", month.grantsPicoUsd),
    row("Refunds", month.refundsPicoUsd, "-"),
    row("Lapsed", month.lapsedPicoUsd, "-"),
    ...month.models.map(
      ({ model, requests, inputTokens, outputTokens, costPicoUsd }) =>
        [model, String(requests), String(inputTokens), String(outputTokens), amount(costPicoUsd, "-")] as const,
    ),
    row("Closing balance", month.closingPicoUsd),
    row("Owed", month.owedPicoUsd),
  ];
}

const amount = (pico: string, sign: string): string => (BigInt(pico) === 0n ? "0.00" : `${sign}${usd(pico)}`);

const heads = ["What", "Requests", "Input tokens", "Output tokens", "USD"] as const;

/** A month as comma-separated values. A text that a spreadsheet would compute is no formula. */
export function monthCsv(month: Month): string {
  const cell = (text: string, at: number) => {
    const safe = at === 0 && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [heads, ...toRows(month)].map((row) => row.map(cell).join(",")).join("\r\n");
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

const style = `
  body { font: 11pt/1.5 system-ui, sans-serif; color: #111; max-width: 18cm; margin: 1.5cm auto; padding: 0 1em; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  th, td { border-bottom: 1px solid #ccc; padding: .35em .5em; text-align: right; }
  th:first-child, td:first-child { text-align: left; }
  tr:nth-last-child(-n+2) { font-weight: 600; }`;

/** A month as a page to print, which needs nothing else. */
export function monthPage({ accountId, accountName }: Whose, month: Month): string {
  const line = (tag: string, row: readonly string[]) =>
    `<tr>${row.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join("")}</tr>`;
  const until = month.until === undefined ? "" : timestampDate(month.until).toISOString();
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Statement ${month.month}</title><style>${style}</style></head>
<body>
<h1>Statement ${month.month}</h1>
<p>${accountName === "" ? "" : `${escapeHtml(accountName)}<br>`}Account ${escapeHtml(accountId)}<br>
${month.isOver ? "The whole month in UTC" : `Until ${until}`}, in USD</p>
<table>
<thead>${line("th", heads)}</thead>
<tbody>
${toRows(month)
  .map((row) => line("td", row))
  .join("\n")}
</tbody>
</table>
</body>
</html>
`;
}
