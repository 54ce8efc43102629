import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { empty, long, right, start, ways, wrong } from "./doors.ts";

/** A message far beyond the limit that is small on its way. Made before any call: it takes long. */
const bombs = new Map((["proto", "json"] as const).map((format) => [format, gzipSync(long(format, 64 * 1024 * 1024))]));

describe.each(ways)("over %s", (_name, door, kind, format) => {
  test("a wrong key is refused before anything of the message is there, and observed", async () => {
    const { address, codes, service } = await start(door);
    expect(await door.call(address, kind, format, wrong).outcome).toBe("unauthenticated");
    expect(codes).toEqual(["unauthenticated"]);
    expect(service.started).toBe(0);
  });

  test("a right key is let in", async () => {
    const { address, codes } = await start(door);
    const call = door.call(address, kind, format, right);
    call.write(door.frame(kind, empty(format)));
    call.end();
    expect(await call.outcome).toBe("ok");
    expect(codes).toEqual(["ok"]);
  });

  test.each([
    ["bytes of no message", Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ["a message that ends too early", Buffer.from([0x0a, 0x7f, 0x78])],
    ["text that is not JSON either", Buffer.from('{"model":')],
  ])("%s are the caller's fault", async (_what, bytes) => {
    const { address, service } = await start(door);
    const call = door.call(address, kind, format, right);
    call.write(door.frame(kind, bytes));
    call.end();
    expect(await call.outcome).toBe("invalid_argument");
    expect(service.started).toBe(0);
  });

  test("what is not compressed as its header says is the caller's fault", async () => {
    const { address } = await start(door);
    const call = door.call(address, kind, format, right, "gzip");
    call.write(door.frame(kind, Buffer.from("not gzip at all"), true));
    call.end();
    expect(await call.outcome).toBe("invalid_argument");
  });

  test("a compressed message is read, and one that inflates beyond the limit is refused", async () => {
    const { address, service } = await start(door);
    const fair = door.call(address, kind, format, right, "gzip");
    fair.write(door.frame(kind, gzipSync(empty(format)), true));
    fair.end();
    expect(await fair.outcome).toBe("ok");
    const bomb = door.call(address, kind, format, right, "gzip");
    bomb.write(door.frame(kind, bombs.get(format) ?? Buffer.of(), true));
    bomb.end();
    expect(await bomb.outcome).toBe("resource_exhausted");
    expect(service.started).toBe(1);
  });

  test("messages beyond the memory for them are refused while small ones get in", async () => {
    const receiving = new Receiving({
      totalBytes: 512 * 1024,
      payerBytes: 512 * 1024,
      reservedBytes: 128 * 1024,
      smallBytes: 1024,
    });
    const { address } = await start(door, { receiving });
    const message = door.frame(kind, long(format, 300 * 1024));
    const stalled = door.call(address, kind, format, right);
    stalled.write(message.subarray(0, -1));
    await eventually("it is received", () => receiving.bytes >= message.length - 1);
    const second = door.call(address, kind, format, right);
    second.write(message);
    second.end();
    expect(await second.outcome).toBe("unavailable");
    const small = door.call(address, kind, format, right);
    small.write(door.frame(kind, empty(format)));
    small.end();
    expect(await small.outcome).toBe("ok");
    stalled.write(message.subarray(-1));
    stalled.end();
    expect(await stalled.outcome).toBe("ok");
    expect(receiving.bytes).toBe(0);
  });

  test("a message that does not come is waited for within bounds", async () => {
    const clock = new ManualClock();
    const receiving = new Receiving({}, clock);
    const { address, service } = await start(door, { receiving });
    const call = door.call(address, kind, format, right);
    const message = door.frame(kind, long(format, 1000));
    call.write(message.subarray(0, 100));
    await eventually("its beginning is received", () => receiving.bytes >= 100);
    for (let second = 0; second < 12; second += 1) {
      clock.advance(1000);
    }
    expect(await call.outcome).toBe("deadline_exceeded");
    expect(receiving.bytes).toBe(0);
    expect(service.started).toBe(0);
  });
});
