import { ActionButton } from "../forms/action-button.tsx";
import { saveFile } from "./save-file.ts";

type Cell = string | bigint;

interface Props {
  /** The file's name without its ending. */
  readonly name: string;
  readonly load: (signal: AbortSignal) => Promise<readonly (readonly Cell[])[]>;
}

/** Downloads what the page lists as an exact file for spreadsheets. */
export function CsvButton({ name, load }: Props) {
  const download = async (): Promise<void> =>
    saveFile(`${name}.csv`, "text/csv", [toCsv(await load(new AbortController().signal))]);
  return <ActionButton act={download}>Download CSV</ActionButton>;
}

function toCsv(lines: readonly (readonly Cell[])[]): string {
  return lines.map((line) => line.map(toCell).join(",")).join("\r\n");
}

/** A CSV cell. A text that begins like a formula gets an apostrophe, as a spreadsheet would run it. */
function toCell(value: Cell): string {
  const text = String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
