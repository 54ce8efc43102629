import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { long, ways } from "../wire/grpc/server/doors.ts";

// Messages that a port cannot take are recorded for whose key they came with, as what a surface refuses is.

let site: Site;
let tollgate: Tollgate;
let account: string;
let key: string;
beforeAll(async () => {
  site = await createSite();
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  ({ id: account } = (await tollgate.admin("accounts", "create", "--name", "of messages")) as { id: string });
  ({ key } = (await tollgate.admin("keys", "create", account, "--name", "of messages")) as { key: string });
}, 60_000);
afterAll(async () => {
  await tollgate.stop();
  await site.remove();
});

test.each(
  ways.flatMap(([name, ...way]) => [
    [`${name}: what is too large`, "REQUEST_TOO_LARGE", ...way] as const,
    [`${name}: what cannot be read`, "INVALID_ARGUMENT", ...way] as const,
  ]),
)("over %s", async (_name, reason, door, kind, format) => {
  const address = String(tollgate.addresses[door.name.toLowerCase()]);
  const call = door.call(address, kind, format, { authorization: `Bearer ${key}` });
  const isLong = reason === "REQUEST_TOO_LARGE";
  call.write(door.frame(kind, isLong ? long(format, 5 * 1024 * 1024) : Buffer.from([0xff, 0xff, 0xff, 0xff])));
  call.end();
  const requestId = String(await call.id);
  const found = await eventually("it is recorded", async () => {
    const requests = (await tollgate.admin("requests", account, "--request", requestId)) as object[];
    return requests.length === 0 ? undefined : requests;
  });
  expect(found).toMatchObject([{ request_id: requestId, account_id: account, surface: "grpc", reason }]);
  await eventually("it is logged", () => tollgate.log.some((line) => line.requestId === requestId));
  expect(tollgate.log.filter((line) => line.requestId === requestId)).toMatchObject([{ account, reason }]);
});
