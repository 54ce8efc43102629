import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { formatUsd } from "../../../../lib/money.ts";
import { readAll } from "../../../../lib/rpc/pages.ts";
import { moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { type Earned, type Margin, toMargins } from "./margin.ts";

const dayMs = 86_400_000;

interface MarginOptions {
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
        .option("--to <time>", "settled before", moment),
    ask: async (core, { to = new Date(), from = new Date(to.getTime() - dayMs) }) => {
      const spanMs = BigInt(to.getTime() - from.getTime());
      if (spanMs <= 0n) {
        throw new Error("--from must be before --to");
      }
      const client = createClient(CatalogueService, core);
      const servers = await readAll(
        (page) => client.listServers(page),
        (page) => page.servers,
      );
      return toMargins(await readEarned(core, from, to), servers, spanMs).map(document);
    },
    note: "Servers cost as configured now (servers[].usd_per_hour), all the time.",
  });
}

async function readEarned(core: Transport, from: Date, to: Date): Promise<Earned[]> {
  const span = { from: timestampFromDate(from), to: timestampFromDate(to) };
  const earned: Earned[] = [];
  const usage = createClient(MeteringService, core).streamUsage({ ...span, groupBy: [UsageGroup.MODEL] });
  for await (const { rows } of usage) {
    for (const { model, totalCostPicoUsd } of rows) {
      earned.push({ model, amount: BigInt(totalCostPicoUsd || "0") });
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
