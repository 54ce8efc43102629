import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { readPastedId } from "#lib/ids/request-id.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { count, moment, reasonName } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { requestDocument, requestWithAdvice } from "../output/metering-documents.ts";

const outcomes = {
  all: RequestOutcome.UNSPECIFIED,
  finished: RequestOutcome.FINISHED,
  refused: RequestOutcome.REFUSED,
};

interface RequestFilter {
  readonly request?: string;
  readonly key?: string;
  readonly model?: string;
  readonly reason?: string;
  readonly outcome: keyof typeof outcomes;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
}

/** `tollgate requests` */
export function addRequests(program: Command, io: Io): void {
  addQuestion<[string | undefined], RequestFilter>(program, "requests [account]", io, {
    description:
      "list finished and refused requests, newest first, with the reason; of all accounts unless one is named",
    options: (command) =>
      command
        .option(
          "--request <id>",
          "only this request, by the x-request-id of its response or the id in its answer, and what to do about it",
          readPastedId,
        )
        .option("--key <key>", "only this key")
        .option("--model <model>", "only this model")
        .option("--reason <reason>", "only refused for this reason, such as rate_limited", reasonName)
        .addOption(
          new Option("--outcome <outcome>", "only finished or only refused ones")
            .choices(Object.keys(outcomes))
            .default("all"),
        )
        .option("--from <time>", "ended at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "ended before", moment)
        .option("--limit <n>", "the most requests", count, 100),
    // One request is told in whole: what to do has no room in a table.
    show: (answer) => (Array.isArray(answer) && answer.length === 1 && "advice" in answer[0] ? answer[0] : answer),
    ask: async (
      core,
      { request = "", key = "", model = "", reason = "", outcome, from, to, limit },
      accountId = "",
    ) => {
      const client = createClient(MeteringService, core);
      const filter = {
        ...{ accountId, requestId: request, keyId: key, model, reason, outcome: outcomes[outcome] },
        ...(from && { from: timestampFromDate(from) }),
        ...(to && { to: timestampFromDate(to) }),
      };
      const found = await readAll(
        (page) => client.listRequests({ ...filter, ...page }),
        ({ requests }) => requests,
        limit,
      );
      return found.map(request === "" ? requestDocument : requestWithAdvice);
    },
  });
}
