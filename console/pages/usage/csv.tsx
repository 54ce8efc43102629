import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "../../../lib/money.ts";
import { costOf } from "./view.ts";

const names = ["time", "account_id", "key_id", "model", "requests", "input_tokens", "output_tokens", "cost_usd"];

/** The rows of the page as a file for a spreadsheet, exact. */
export function CsvButton({ rows }: { readonly rows: readonly UsageRow[] }) {
  const download = (): void => {
    const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "usage.csv";
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <button type="button" onClick={download}>
      Download CSV
    </button>
  );
}

function toCsv(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) => [
    row.hour || row.day,
    row.accountId,
    row.keyId,
    row.model,
    row.requests,
    row.inputTokens,
    row.outputTokens,
    formatUsd(costOf(row)),
  ]);
  return [names, ...lines].map((line) => line.map(toCell).join(",")).join("\r\n");
}

/** A cell that begins like a formula would be run by a spreadsheet. */
function toCell(value: string | bigint): string {
  const text = String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
