import { describe, expect, test } from "@jest/globals";
import { pause } from "../../../support/pause.ts";
import { type Door, empty, grpcDoor, right, start, ways, wrong } from "./doors.ts";

const within = (door: Door, grpc: string, connect: string): Record<string, string> =>
  door === grpcDoor ? { "grpc-timeout": grpc } : { "connect-timeout-ms": connect };

describe.each(ways)("over %s", (_name, door, kind, format) => {
  const end = async (headers: Record<string, string>) => {
    const { address, codes, reasons, service } = await start(door);
    const call = door.call(address, kind, format, headers);
    await pause(20, "a deadline that is taken for none at all has passed");
    call.write(door.frame(kind, empty(format)));
    call.end();
    const outcome = await call.outcome;
    return { outcome, codes, reasons, started: service.started };
  };

  test.each([
    ["30 days", "720H", "2592000000"],
    ["the longest", "99999999H", "9999999999"],
    ["a second beyond the longest timer", "2147484S", "2147484000"],
    ["a minute", "1M", "60000"],
  ])("a deadline of %s leaves a call its time", async (_what, grpc, connect) => {
    expect(await end({ ...right, ...within(door, grpc, connect) })).toMatchObject({ outcome: "ok", codes: ["ok"] });
  });

  test.each([
    ["no number", "x", "x"],
    ["nothing", "", " "],
    ["too many digits", "123456789S", "12345678901"],
    ["a unit that is none", "1d", "1d"],
    ["a fraction", "1.5S", "1.5"],
  ])("a deadline that is %s is the caller's fault", async (_what, grpc, connect) => {
    const { outcome, codes, reasons, started } = await end({ ...right, ...within(door, grpc, connect) });
    expect({ outcome, codes, reasons, started }).toEqual({
      outcome: "invalid_argument",
      codes: ["invalid_argument"],
      reasons: ["INVALID_ARGUMENT"],
      started: 0,
    });
  });

  test("whoever has no key is told that first, or of the deadline, and never of a fault of the service", async () => {
    const { outcome, codes } = await end({ ...wrong, ...within(door, "x", "x") });
    expect(["unauthenticated", "invalid_argument"]).toContain(outcome);
    expect(codes).toEqual([outcome]);
  });
});
