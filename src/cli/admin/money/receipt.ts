import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readPastedId } from "#lib/ids/request-id.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { count, moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { receiptDocument, wholeReceiptDocument } from "../output/metering-documents.ts";
import { required } from "../required.ts";

interface ReceiptFilter {
  readonly key?: string;
  readonly model?: string;
  readonly request?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
}

/** `tollgate receipt` */
export function addReceipt(program: Command, io: Io): void {
  addQuestion<[string], { account?: string }>(program, "receipt <request>", io, {
    description:
      "show what a request cost, which credits paid and what was held for it; REQUEST is the x-request-id of its response or the id in its answer",
    options: (command) =>
      command.option("--account <account>", "only this account's: callers of the core choose ids of their own"),
    ask: async (core, { account = "" }, pasted) => {
      const client = createClient(MeteringService, core);
      const requestId = readPastedId(pasted);
      const asked = client.getReceipt({ requestId, accountId: account });
      const { receipt, furtherRuns } = await asked.catch((error: unknown) => {
        throw readDetail(error)?.reason === Reason.RECEIPT_NOT_FOUND ? leadOn(error, requestId) : error;
      });
      const further = furtherRuns.length === 0 ? {} : { further_runs: furtherRuns.map(receiptDocument) };
      return { ...wholeReceiptDocument(required(receipt)), ...further };
    },
  });
}

/** Who asks what a request cost may not know that it was refused. */
function leadOn(error: unknown, requestId: string): Error {
  const { rawMessage } = ConnectError.from(error);
  return new Error(`${rawMessage} Why it was refused, if it was: tollgate requests --request ${requestId}`);
}

/** `tollgate receipts` */
export function addReceipts(program: Command, io: Io): void {
  /** Why there are no more, although the list goes on. */
  let broken: string | undefined;
  addQuestion<[string | undefined], ReceiptFilter>(program, "receipts [account]", io, {
    description: "list what requests cost, newest first; of all accounts unless one is named",
    options: (command) =>
      command
        .option("--key <key>", "only this key")
        .option("--model <model>", "only this model")
        .option("--request <request>", "only this request", readPastedId)
        .option("--from <time>", "settled at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .option("--limit <n>", "the most receipts", count, 100),
    ask: async (core, { key = "", model = "", request = "", from, to, limit }, accountId = "") => {
      const client = createClient(MeteringService, core);
      const filter = {
        accountId,
        keyId: key,
        model,
        requestId: request,
        ...(from && { from: timestampFromDate(from) }),
        ...(to && { to: timestampFromDate(to) }),
      };
      const found: Receipt[] = [];
      try {
        await readAll(
          (page) => client.listReceipts({ ...filter, ...page }),
          ({ receipts }) => {
            found.push(...receipts);
            return receipts;
          },
          limit,
        );
      } catch (error) {
        if (found.length === 0) {
          throw error;
        }
        broken = ConnectError.from(error).rawMessage; // what was read is true, such as what is newer than a lost archive
      }
      return found.map(receiptDocument);
    },
    refuse: () => broken,
  });
}
