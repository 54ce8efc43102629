import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Io } from "../shared/io.ts";
import { required } from "./accounts.ts";
import { addQuestion } from "./ask-core.ts";
import { receiptDocument } from "./documents.ts";

/** `tollgate receipt` */
export function addReceipt(program: Command, io: Io): void {
  addQuestion<[string], object>(program, "receipt <request>", io, {
    description: "show what a request cost and which lots paid; REQUEST is the x-request-id of its response",
    ask: async (core, _, requestId) =>
      receiptDocument(required((await createClient(MeteringService, core).getReceipt({ requestId })).receipt)),
  });
}
