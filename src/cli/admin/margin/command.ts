import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { formatUsd } from "../../../../lib/money.ts";
import { readAll } from "../../../../lib/rpc/pages.ts";
import { moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { type Earned, type Margin, toMargins } from "./margin.ts";
import { type SpanName, spanNames, toSpans } from "./spans.ts";

const dayMs = 86_400_000;

const groups = { hour: UsageGroup.HOUR, day: UsageGroup.DAY } as const satisfies Record<SpanName, UsageGroup>;

interface MarginOptions {
  readonly by?: SpanName;
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
        .addOption(new Option("--by <span>", "keep hours or days of UTC apart").choices(spanNames)),
    ask: async (core, { by, to = new Date(), from = new Date(to.getTime() - dayMs) }) => {
      if (from >= to) {
        throw new Error("--from must be before --to");
      }
      const client = createClient(CatalogueService, core);
      const servers = await readAll(
        (page) => client.listServers(page),
        (page) => page.servers,
      );
      const spans = by && toSpans(by, from.getTime(), to.getTime());
      const earned = await readEarned(core, from, to, by);
      if (by === undefined || spans === undefined) {
        return toMargins(earned.get("") ?? [], servers, BigInt(to.getTime() - from.getTime())).map(document);
      }
      return spans.flatMap(({ name, ms }) =>
        toMargins(earned.get(name) ?? [], servers, BigInt(ms)).map((margin) => ({ [by]: name, ...document(margin) })),
      );
    },
    note: "Servers cost as configured now (servers[].usd_per_hour), all the time.",
  });
}

/** What models earned, by the name of the hour or day; all of it under the empty one where they are not kept apart. */
async function readEarned(
  core: Transport,
  from: Date,
  to: Date,
  by: SpanName | undefined,
): Promise<Map<string, Earned[]>> {
  const span = { from: timestampFromDate(from), to: timestampFromDate(to) };
  const earned = new Map<string, Earned[]>();
  const groupBy = [UsageGroup.MODEL, ...(by === undefined ? [] : [groups[by]])];
  for await (const { rows } of createClient(MeteringService, core).streamUsage({ ...span, groupBy })) {
    for (const { model, totalCostPicoUsd, ...row } of rows) {
      const name = by === undefined ? "" : row[by];
      const ofSpan = earned.get(name) ?? [];
      earned.set(name, ofSpan);
      ofSpan.push({ model, amount: BigInt(totalCostPicoUsd || "0") });
    }
  }
  return earned;
}

function document({ model, revenue, cost }: Margin) {
  return {
    model,
    revenue_usd: formatUsd(revenue),
    cost_usd: cost === undefined ? null : formatUsd(cost),
    margin_usd: cost === undefined ? null : formatUsd(revenue - cost),
  };
}
