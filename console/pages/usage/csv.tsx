import { useState } from "preact/hooks";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "../../../lib/money.ts";
import { Failure } from "../../parts/calls/answer.tsx";
import { costOf } from "./view.ts";

const names = ["time", "account_id", "key_id", "model", "requests", "input_tokens", "output_tokens", "cost_usd"];

interface Props {
  readonly load: (signal: AbortSignal) => Promise<readonly UsageRow[]>;
}

/** Downloads all groups of the page, by the hour or day, as an exact file for spreadsheets. */
export function CsvButton({ load }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const download = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      save(toCsv(await load(new AbortController().signal)));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" aria-busy={isBusy} disabled={isBusy} onClick={() => void download()}>
        Download CSV
      </button>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

function save(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "usage.csv";
  link.click();
  URL.revokeObjectURL(url);
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

/** A CSV cell. A text that begins like a formula gets an apostrophe, as a spreadsheet would run it. */
function toCell(value: string | bigint): string {
  const text = String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
