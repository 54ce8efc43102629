import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { MarginService, MarginSpan } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { moment } from "../shared/arguments.ts";
import type { Io } from "../shared/io.ts";
import { addQuestion } from "./ask-core.ts";
import { marginDocument } from "./output/metering-documents.ts";

const spans = { hour: MarginSpan.HOUR, day: MarginSpan.DAY } as const;

interface MarginOptions {
  readonly by?: keyof typeof spans;
  readonly from?: Date;
  readonly to?: Date;
}

/** `tollgate margin` */
export function addMargin(program: Command, io: Io): void {
  addQuestion<[], MarginOptions>(program, "margin", io, {
    description: "show what each model earned beside what its servers cost, of the last 24 hours unless told otherwise",
    options: (command) =>
      command
        .option("--from <time>", "settled at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .addOption(new Option("--by <span>", "keep hours or days of UTC apart").choices(Object.keys(spans))),
    ask: async (core, { by, from, to }) => {
      const documents = [];
      const asked = {
        ...(from && { from: timestampFromDate(from) }),
        ...(to && { to: timestampFromDate(to) }),
        ...(by && { by: spans[by] }),
      };
      for await (const { margins } of createClient(MarginService, core).streamMargins(asked)) {
        documents.push(...margins.map(marginDocument));
      }
      return documents;
    },
    note: "Servers cost as configured now (servers[].usd_per_hour), from when the service began.",
  });
}
