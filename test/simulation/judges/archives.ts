import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { readRequestTime } from "#lib/ids/request-id.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { judgesStorage } from "../database/storage.ts";
import { toDigest } from "../world/night.ts";
import type { World } from "../world.ts";

/** What is told of archives that are not as they were written. */
const faults: ReadonlySet<Reason | undefined> = new Set([Reason.RECEIPT_ARCHIVED, Reason.ARCHIVE_CHANGED]);

/** A receipt in an archive. */
export interface ArchivedReceipt {
  readonly accountId: string;
  readonly requestId: string;
  readonly runId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  readonly status: string;
  /** By name. */
  readonly labels: Readonly<Record<string, string>>;
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

/**
 * Judges that each archive is the file in the books, with the content that the books state, that what has left is in the
 * books no more, and that files that were harmed since are found, named, and never believed.
 */
export async function judgeArchives(world: World): Promise<void> {
  const { night, server, history } = world;
  await judgeHarmed(world);
  const stays = server.tables.get<{ count: number }>(
    `select count(*) as count from usage where settled_at < (select coalesce(max(day) + 1, 0) * 86400000 from receipt_archive)`,
  );
  if (stays !== undefined && stays.count > 0) {
    history.violation("archives", `${stays.count} receipts that are in archives have stayed in the books`);
  }
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

/** Reads the archives of the world with the product's own eyes, from a folder of the disk. */
async function judgeHarmed(world: World): Promise<void> {
  const { night, server } = world;
  if (night === undefined || night.files.size === 0) {
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "simulated-archives-"));
  try {
    for (const [name, content] of night.onDisk) {
      writeFileSync(join(folder, name), content);
    }
    const receipts = new ReadReceipts(judgesStorage(server), new ArchiveReader(archiveFolder(folder, systemRandom)));
    const named = new Set((await receipts.findFaulty()).map(({ day }) => `receipts-${day}.jsonl.gz`));
    for (const { file } of readArchives(server)) {
      const one = parse(night.files.get(file)).find(({ requestId }) => isOfDay(requestId, file));
      const isHarmed = night.harmed.has(file);
      if (named.has(file) !== isHarmed) {
        const what = isHarmed ? "harmed and is believed" : "not harmed and is doubted";
        world.history.violation("archives", `${file} was ${what}`);
      }
      if (one !== undefined) {
        await judgeBelief(world, file, { isHarmed, found: () => receipts.find(one.requestId) });
      }
      if (one !== undefined && !isHarmed) {
        changeByte(join(folder, file));
        await judgeBelief(world, file, { isHarmed: true, found: () => receipts.find(one.requestId) });
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether a request was made on an archive's day: where it was made before, a fault of that archive is not the answer. */
function isOfDay(requestId: string, file: string): boolean {
  const madeAt = readRequestTime(requestId);
  return madeAt !== undefined && file.includes(new Date(madeAt).toISOString().slice(0, 10));
}

/** Changes a byte in the midst of a file. */
function changeByte(path: string): void {
  const content = readFileSync(path);
  const middle = content.length >> 1;
  content.writeUInt8((content[middle] ?? 0) ^ 1, middle);
  writeFileSync(path, content);
}

/** A receipt is read from an archive, and says so; of one that is harmed or gone it is told that it is. */
async function judgeBelief(
  { history }: World,
  file: string,
  { isHarmed, found }: { readonly isHarmed: boolean; readonly found: () => Promise<Receipt[]> },
): Promise<void> {
  const read = await found().then(
    ([receipt]) => (receipt?.archived ? "read" : `read as ${JSON.stringify(receipt?.archived)}`),
    (error: unknown) => (faults.has(readDetail(error)?.reason) ? "refused" : String(error)),
  );
  if (read !== (isHarmed ? "refused" : "read")) {
    history.violation("archives", `a receipt of ${file}, which is ${isHarmed ? "" : "not "}harmed, is ${read}`);
  }
}

function readArchives({ tables }: World["server"]): Archive[] {
  return tables.all<Archive>(
    "select file, sha256, receipts, cost_high * 1000000 + cost_low as cost from receipt_archive order by day",
  );
}

function parse(content: Buffer | undefined): ArchivedReceipt[] {
  const lines = content === undefined ? [] : gunzipSync(content).toString().split("\n").filter(Boolean);
  return lines.map((line) => {
    const { labels = {}, ...receipt } = JSON.parse(line) as Record<string, string> & Pick<ArchivedReceipt, "labels">;
    const { accountId, requestId, runId, inputTokens, outputTokens, costPicoUsd, status } = receipt;
    return {
      ...{ accountId: String(accountId), requestId: String(requestId), runId: String(runId) },
      ...{ inputTokens: Number(inputTokens ?? 0), outputTokens: Number(outputTokens ?? 0) },
      ...{ cost: Number(costPicoUsd ?? 0), status: String(status), labels },
    };
  });
}
