import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { ListRequestsRequestSchema, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { findArchived } from "#src/services/find/find-archived.ts";
import { listRequests } from "#src/services/metering/requests/request-list.ts";
import { dialects } from "../../../money/databases.ts";
import { settledDays } from "../../../money/retention/settled-days.ts";

const live = settledDays();

describe.each(dialects)("%s", (dialect) => {
  test("a request whose receipt has left the books is found by its id, in its own account alone", async () => {
    const { storage, ids, account, directory, retention, close } = await live(dialect);
    const requestId = ids[0] ?? "";
    const list = async (asked: object, archives?: ReadReceipts) =>
      (await listRequests(storage, create(ListRequestsRequestSchema, { requestId, ...asked }), archives)).requests;
    const before = await list({});
    expect(before).toMatchObject([{ requestId, accountId: account, reason: "" }]);
    await retention().work();
    expect(await list({})).toEqual([]);

    const archives = new ReadReceipts(storage, new ArchiveReader(archiveFolder(directory, systemRandom)));
    expect(await list({}, archives)).toEqual(before);
    expect(await list({ accountId: account, outcome: RequestOutcome.FINISHED }, archives)).toEqual(before);
    for (const other of [
      { accountId: v7() },
      { model: "none" },
      { reason: "TIMEOUT" },
      { outcome: RequestOutcome.REFUSED },
      { to: timestampFromMs(1) },
    ]) {
      expect(await list(other, archives)).toEqual([]);
    }

    const found = [{ kind: "request", id: requestId, name: before[0]?.model, accountId: account }];
    expect(await findArchived(archives, requestId, account)).toEqual(found);
    expect(await findArchived(archives, requestId.replace("req_", "msg_"), "")).toEqual(found);
    expect(await findArchived(archives, requestId, v7())).toEqual([]);
    expect(await findArchived(archives, "aster", "")).toEqual([]);
    await close();
  });
});
