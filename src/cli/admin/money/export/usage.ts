import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { hourMs } from "#lib/time/days.ts";
import type { Io } from "../../../shared/io.ts";
import { whileTelling } from "../../../shared/progress.ts";
import { toUsageRequest, type UsageOptions, usageDocument } from "../usage.ts";
import { type ExportFile, openExport } from "./export-file.ts";
import { columnsOf, type FormatName, formats } from "./formats.ts";

/** The core may take this long with the largest books, because people see the progress. In milliseconds. */
const timeoutMs = 3_600_000;

/** Which usage to write, and in which format. */
export interface UsageExportOptions extends UsageOptions {
  readonly format: FormatName;
}

/**
 * Writes the usage to a new file, and reports progress by the number of requests in the rows so far: their share is
 * known however rows are grouped and whether or not the span has ends. Returns the number of rows.
 */
export async function exportUsage(
  core: Transport,
  path: string,
  options: UsageExportOptions,
  io: Pick<Io, "progress">,
): Promise<number> {
  const request = toUsageRequest(options);
  let file: ExportFile | undefined;
  const open = async (columns: string[]) => openExport(path, formats[options.format], { columns, resume: false });
  try {
    return await whileTelling("usage", "requests", io, async (report) => {
      const total = await countRequests(core, request);
      let written = 0;
      let requests = 0;
      for await (const piece of createClient(MeteringService, core).streamUsage(request, { timeoutMs })) {
        const documents = piece.rows.map((row) => usageDocument(row, options));
        file ??= await open(columnsOf(documents[0] ?? {}));
        await file.write(documents);
        written += documents.length;
        requests += documents.reduce((sum, row) => sum + row.requests, 0);
        report(requests, Math.max(total, requests));
      }
      file ??= await open([]);
      return written;
    });
  } finally {
    await file?.close();
  }
}

/**
 * The number of requests for the progress, from the sums of usage, which takes little time. Those of the first and last
 * hour count as a whole: of receipts that have left the books nothing smaller is known.
 */
export async function countRequests(
  core: Transport,
  { from, to, ...filter }: Partial<ReturnType<typeof toUsageRequest>>,
): Promise<number> {
  let total = 0n;
  const request = {
    ...{ ...filter, groupBy: [UsageGroup.MODEL] },
    ...(from && { from: timestampFromMs(Math.floor(timestampMs(from) / hourMs) * hourMs) }),
    ...(to && { to: timestampFromMs(Math.ceil(timestampMs(to) / hourMs) * hourMs) }),
  };
  for await (const { rows } of createClient(MeteringService, core).streamUsage(request, { timeoutMs })) {
    total += rows.reduce((sum, row) => sum + row.requests, 0n);
  }
  return Number(total);
}
