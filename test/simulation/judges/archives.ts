import { gunzipSync } from "node:zlib";
import { toDigest } from "../world/night.ts";
import type { World } from "../world.ts";

/** A receipt in an archive. */
export interface ArchivedReceipt {
  readonly accountId: string;
  readonly requestId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  readonly status: string;
}

interface Archive {
  readonly file: string;
  readonly sha256: string;
  readonly receipts: number;
  readonly cost: number;
}

/** The receipts that have left the books, according to the archives. */
export function readArchived({ night, server }: World): readonly ArchivedReceipt[] {
  const kept = server.tables.get<{ day: number }>("select coalesce(max(day) + 1, 0) as day from receipt_archive");
  const left = new Set(
    server.tables
      .all<{ id: string }>("select run_id as id from usage where settled_at < ?", (kept?.day ?? 0) * 86_400_000)
      .map(({ id }) => id),
  );
  return readArchives(server).flatMap(({ file }) =>
    parse(night?.files.get(file)).filter(({ runId }) => !left.has(runId)),
  );
}

/** Judges that each archive is the file in the books, with the content that the books state. */
export function judgeArchives({ night, server, history }: World): void {
  for (const { file, sha256, receipts, cost } of readArchives(server)) {
    const content = night?.files.get(file);
    const found = parse(content);
    const sum = found.reduce((all, receipt) => all + receipt.cost, 0);
    if (content === undefined || toDigest(content) !== sha256 || found.length !== receipts || sum !== cost) {
      history.violation(
        "archives",
        `${file} has ${found.length} receipts of ${sum} and should have ${receipts} of ${cost}`,
      );
    }
  }
}

function readArchives({ tables }: World["server"]): Archive[] {
  return tables.all<Archive>(
    "select file, sha256, receipts, cost_high * 1000000 + cost_low as cost from receipt_archive order by day",
  );
}

function parse(content: Buffer | undefined): (ArchivedReceipt & { readonly runId: string })[] {
  const lines = content === undefined ? [] : gunzipSync(content).toString().split("\n").filter(Boolean);
  return lines.map((line) => {
    const { accountId, requestId, runId, inputTokens, outputTokens, costPicoUsd, status } = JSON.parse(line) as Record<
      string,
      string
    >;
    return {
      ...{ accountId: String(accountId), requestId: String(requestId), runId: String(runId) },
      ...{ inputTokens: Number(inputTokens ?? 0), outputTokens: Number(outputTokens ?? 0) },
      ...{ cost: Number(costPicoUsd ?? 0), status: String(status) },
    };
  });
}
