import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { runHere } from "../../../support/run-here.ts";

test("receipts that are newer than a lost archive are printed, and the command fails with the archive's day", async () => {
  const metering = {
    listReceipts({ pageToken }: { readonly pageToken: string }) {
      if (pageToken !== "") {
        throw failure(Reason.RECEIPT_ARCHIVED, "The receipts of 2026-01-31 left the books.");
      }
      return { receipts: [{ requestId: "req_new" }], nextPageToken: "more" };
    },
  };
  const core = await startGrpcServer({
    address: "127.0.0.1:0",
    services: [registration(MeteringService, metering)],
    interceptors: [],
  });
  try {
    const { code, notes, output } = await runHere(["receipts", "--json", "--core", core.address], {
      TOLLGATE_OPERATOR_TOKEN: "secret",
    });
    expect(JSON.parse(output)).toMatchObject([{ request_id: "req_new" }]);
    expect(notes).toContain("The receipts of 2026-01-31 left the books.");
    expect(code).toBe(1);
  } finally {
    await core.stop(0);
  }
});
