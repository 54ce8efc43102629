import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Io } from "../shared/io.ts";
import { required } from "./accounts.ts";
import { addQuestion } from "./ask-core.ts";
import { receiptDocument } from "./output/documents.ts";

/** `tollgate receipt` */
export function addReceipt(program: Command, io: Io): void {
  addQuestion<[string], { account?: string }>(program, "receipt <request>", io, {
    description: "show what a request cost and which lots paid; REQUEST is the x-request-id of its response",
    options: (command) =>
      command.option("--account <account>", "only this account's: callers of the core choose ids of their own"),
    ask: async (core, { account = "" }, requestId) => {
      const client = createClient(MeteringService, core);
      const { receipt, furtherRuns } = await client.getReceipt({ requestId, accountId: account });
      const further = furtherRuns.length === 0 ? {} : { further_runs: furtherRuns.map(receiptDocument) };
      return { ...receiptDocument(required(receipt)), ...further };
    },
  });
}
