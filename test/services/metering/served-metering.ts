import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { StreamUsageRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { createMeteringService } from "#src/services/metering/metering-service.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import type { Principal } from "#src/wire/principal.ts";
import { openMetering, request, run } from "../../money/fixture.ts";
import { noArchives } from "../../money/no-archives.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

export const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
export const caller = (accountId: string): Principal => ({ kind: "caller", accountId, keyId: "k" });

export const as = (principal: Principal) =>
  ({
    values: createContextValues().set(principalKey, principal),
    signal: new AbortController().signal,
  }) as unknown as HandlerContext;

/** Why a call of the service itself is refused. */
export const refusalOf = async (call: () => unknown) => {
  try {
    await call();
    return undefined;
  } catch (error) {
    return readDetail(error)?.reason;
  }
};

/** The service over metering of its own, a minute before a midnight. */
export async function serveMetering(url: string) {
  const minuteToMidnight = Date.UTC(2026, 4, 1, 23, 59, 0);
  const clock = new ManualClock(minuteToMidnight);
  // Days of usage are the database's; SQLite has no clock of its own.
  if (!url.startsWith("sqlite:")) {
    await (await movableClock(url))(minuteToMidnight - Date.now());
  }
  const metering = await openMetering({ clock, url });
  const service = createMeteringService({ storage: metering.storage, clock, archives: noArchives, labels: [] });
  return {
    ...{ clock, metering, service },
    async usage(principal: Principal, of: object): Promise<UsageRow[]> {
      const rows: UsageRow[] = [];
      const answer = service.streamUsage(create(StreamUsageRequestSchema, of), as(principal));
      for await (const piece of answer) {
        rows.push(...((piece.rows ?? []) as UsageRow[]));
      }
      return rows;
    },
    /** Runs a request, and returns its id. */
    async spend(account: string, keyId = "k"): Promise<string> {
      const wanted = request(account, { inputTokens: 10, outputTokens: 20 }, { keyId });
      await clock.until(run(metering.ledger, wanted));
      return wanted.requestId;
    },
  };
}
