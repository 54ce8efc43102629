import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { archiveBucket } from "#src/money/retention/s3/archive-bucket.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { startS3 } from "../../../../scripts/test-services/s3.ts";
import { dialects } from "../../databases.ts";
import { settledDays } from "../settled-days.ts";

const live = settledDays();

describe.each(dialects)("%s", (dialect) => {
  const reasonOf = (asked: Promise<unknown>) => asked.then(() => undefined, readDetail);

  test("a day leaves into a bucket as into a folder, and stays in the books while the bucket is away or has lost it", async () => {
    const { storage, ids, settledOn, noted, retention, clock, close } = await live(dialect);
    const [day] = new Date(settledOn).toISOString().split("T");
    const s3 = await startS3("archives");
    const { endpoint, accessKeyId, secretAccessKey } = s3;
    const options = { endpoint, region: "us-east-1", bucket: "archives", prefix: `${dialect}/` };
    const place = archiveBucket({ ...options, accessKeyId, secretAccessKey });
    const stored = () => storage.orm.em.fork().count(Usage);
    await expect(
      retention({ place: archiveBucket({ ...options, accessKeyId, secretAccessKey: "another" }) }).work(),
    ).rejects.toThrow("403 SignatureDoesNotMatch");
    const losing = { ...place, stream: async function* () {} };
    await expect(retention({ place: losing }).work()).rejects.toThrow(`The archive of ${day} is not the one`);
    expect([await stored(), noted]).toEqual([10, []]);

    await retention({ place }).work();
    expect([await stored(), noted.length]).toEqual([3, 1]);
    expect(noted).toMatchObject([{ mark: await place.identify(noted[0]?.file ?? "") }]);
    const archives = new ReadReceipts(storage, new ArchiveReader(place));
    const read = () => readReceipts(storage, ids[0] ?? "", undefined, archives);
    expect(await read()).toMatchObject([{ archived: true }]);
    expect(await reconcile(storage, undefined, { all: true, archives })).toMatchObject({ ok: true });

    const changed = await place.create(noted[0]?.file ?? "");
    await changed.write(Buffer.from("another"));
    await changed.finish();
    expect(await reasonOf(read())).toMatchObject({ reason: Reason.ARCHIVE_CHANGED });
    await s3.stop();
    await expect(read()).rejects.toMatchObject({ code: Code.Unavailable, message: expect.stringContaining(day ?? "") });
    await clock.until(close());
  }, 60_000);
});
