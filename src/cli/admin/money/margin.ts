import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { type Margin, MarginService, MarginSpan } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { marginDocument, weekDocument } from "../output/metering-documents.ts";
import { toWeeksOfMargins } from "./weeks.ts";

const spans = { hour: MarginSpan.HOUR, day: MarginSpan.DAY, week: MarginSpan.DAY } as const;

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
        .option("--from <time>", "settled at or after, such as yesterday, 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .addOption(new Option("--by <span>", "keep hours, days or weeks of UTC apart").choices(Object.keys(spans))),
    ask: async (core, { by, from, to }) => {
      const found: Margin[] = [];
      const asked = {
        ...(from && { from: timestampFromDate(from) }),
        ...(to && { to: timestampFromDate(to) }),
        ...(by && { by: spans[by] }),
      };
      for await (const { margins } of createClient(MarginService, core).streamMargins(asked)) {
        found.push(...margins);
      }
      return by === "week" ? toWeeksOfMargins(found).map(weekDocument) : found.map(marginDocument);
    },
    note: "Servers cost as configured now (servers[].usd_per_hour), from when the service began.",
  });
}
