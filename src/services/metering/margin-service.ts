import { type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import {
  type Margin as MarginMessage,
  type MarginService,
  MarginSpan,
  type StreamMarginsRequest,
} from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { PricedServer } from "#lib/money/server-costs.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { withAge } from "./as-of.ts";
import { type Earned, type Margin, toMargins } from "./margin.ts";
import { lengthFrom, mostSpans, type SpanName, splitSpans } from "./spans.ts";

interface Dependencies {
  readonly storage: Storage;
  /** The inference servers of this core, with their prices as configured now. */
  readonly servers: () => readonly PricedServer[];
  /** When the service began to serve: before it, servers cost nothing. */
  readonly readBeginning: () => Promise<number>;
  readonly clock: Pick<Clock, "now">;
}

const spanNames: Readonly<Record<MarginSpan, SpanName | undefined>> = {
  [MarginSpan.UNSPECIFIED]: undefined,
  [MarginSpan.HOUR]: "hour",
  [MarginSpan.DAY]: "day",
};
const groups = { hour: UsageGroup.HOUR, day: UsageGroup.DAY } as const satisfies Record<SpanName, UsageGroup>;
/** The most margins in one message. */
const pieceSize = 100;

/** Compares the earnings of models with the costs of their servers. */
export function createMarginService({
  storage,
  servers,
  readBeginning,
  clock,
}: Dependencies): ServiceImpl<typeof MarginService> {
  return {
    async *streamMargins(request, context) {
      const { fromMs, toMs, by, spans } = readAsked(request, clock.now(), await readBeginning());
      const { earned, asOf } = await readEarned(storage, timestampFromMs(fromMs), timestampFromMs(toMs), by);
      const priced = servers();
      let margins: MarginMessage[] = [];
      for (const { name, ms } of spans) {
        const ofSpan = toMargins(earned.get(name) ?? [], priced, BigInt(ms));
        margins.push(...ofSpan.map((margin) => toMessage(margin, by, name)));
        if (margins.length >= pieceSize) {
          yield withAge(context, { margins, asOf });
          margins = [];
        }
      }
      if (margins.length > 0) {
        yield withAge(context, { margins, asOf });
      }
    },
  };
}

/** The requested spans. Throws INVALID_ARGUMENT for an empty range, or too many spans. */
function readAsked({ from, to, by: span }: StreamMarginsRequest, now: number, beganMs: number) {
  const toMs = to === undefined ? now : timestampMs(to);
  const fromMs = from === undefined ? toMs - dayMs : timestampMs(from);
  if (fromMs >= toMs) {
    throw failure(Reason.INVALID_ARGUMENT, "from must be before to.", { parameter: "from" });
  }
  const by = span === undefined ? undefined : spanNames[span];
  const spans =
    by === undefined ? [{ name: "", ms: lengthFrom(beganMs, fromMs, toMs) }] : splitSpans(by, fromMs, toMs, beganMs);
  if (spans === undefined) {
    const message = `More than ${mostSpans} ${by}s are not told at once: from must be later.`;
    throw failure(Reason.INVALID_ARGUMENT, message, { parameter: "from" });
  }
  return { fromMs, toMs, by, spans };
}

/** The earnings of models by the name of the hour or day. All are under the empty name when `by` is undefined. */
async function readEarned(
  storage: Storage,
  from: Timestamp,
  to: Timestamp,
  by: SpanName | undefined,
): Promise<{ readonly earned: ReadonlyMap<string, Earned[]>; readonly asOf: number | undefined }> {
  const earned = new Map<string, Earned[]>();
  const groupBy = [UsageGroup.MODEL, ...(by === undefined ? [] : [groups[by]])];
  const TypeName = "tollgate.metering.v1.StreamUsageRequest" as const;
  const asked = {
    $typeName: TypeName,
    from,
    to,
    groupBy,
    accountId: "",
    keyId: "",
    model: "",
    labelName: "",
    dearest: 0,
    fresh: false,
  };
  let asOf: number | undefined;
  for await (const { rows, ...piece } of streamUsage(storage, asked)) {
    asOf = piece.asOf;
    for (const { model, totalCostPicoUsd, ...row } of rows) {
      const name = by === undefined ? "" : row[by];
      const ofSpan = earned.get(name) ?? [];
      earned.set(name, ofSpan);
      ofSpan.push({ model, amount: BigInt(totalCostPicoUsd) });
    }
  }
  return { earned, asOf };
}

function toMessage({ model, revenue, cost }: Margin, by: SpanName | undefined, name: string): MarginMessage {
  return {
    $typeName: "tollgate.metering.v1.Margin",
    model,
    hour: by === "hour" ? name : "",
    day: by === "day" ? name : "",
    revenuePicoUsd: String(revenue),
    ...(cost !== undefined && { costPicoUsd: String(cost), marginPicoUsd: String(revenue - cost) }),
  };
}
