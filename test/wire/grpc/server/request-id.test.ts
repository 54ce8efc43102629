import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { requestIdHeader } from "#lib/rpc/call-headers.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { eventually } from "../../../support/eventually.ts";
import { ScriptedService, untilAborted } from "../scripted-service.ts";
import { empty, long, right, start, ways, wrong } from "./doors.ts";

// Whatever a call is answered, its id is with it, and the observers, who log and record, know the same, and why it was refused.

const bombs = new Map((["proto", "json"] as const).map((format) => [format, gzipSync(long(format, 5 * 1024 * 1024))]));
const made = /^req_[0-9a-f]{32}$/;

describe.each(ways)("over %s, the request's id comes with", (_name, door, kind, format) => {
  async function answer(headers: Record<string, string>, bytes: Uint8Array, encoding?: string, why?: string) {
    const { address, ids, reasons } = await start(door);
    const call = door.call(address, kind, format, headers, encoding);
    call.write(door.frame(kind, bytes, encoding !== undefined));
    call.end();
    const id = await call.id;
    await eventually("it is observed", () => ids.length > 0);
    expect(ids).toEqual([id]);
    expect(reasons).toEqual([why]);
    return id;
  }

  test("an answer", async () => {
    expect(await answer(right, empty(format))).toMatch(made);
  });

  test("an answer to a call that has an id, which stays", async () => {
    expect(await answer({ ...right, [requestIdHeader]: "mine_1" }, empty(format))).toBe("mine_1");
  });

  test("an answer to a call whose id is none, in place of it", async () => {
    expect(await answer({ ...right, [requestIdHeader]: "no id; of any kind" }, empty(format))).toMatch(made);
  });

  test("a refusal by the head", async () => {
    expect(await answer(wrong, empty(format), undefined, "UNAUTHENTICATED")).toMatch(made);
  });

  test.each([
    ["bytes of no message", Buffer.from([0xff, 0xff, 0xff, 0xff]), undefined, "INVALID_ARGUMENT"],
    ["what is not compressed as its header says", Buffer.from("not gzip at all"), "gzip", "INVALID_ARGUMENT"],
    ["a message that inflates beyond the limit", undefined, "gzip", "REQUEST_TOO_LARGE"],
    ["a message beyond the limit", long(format, 5 * 1024 * 1024), undefined, "REQUEST_TOO_LARGE"],
  ])("the refusal of %s", async (_what, bytes, encoding, why) => {
    expect(await answer(right, bytes ?? bombs.get(format) ?? Buffer.of(), encoding, why)).toMatch(made);
  });

  test("an answer that the end of the service cuts off", async () => {
    const service = new ScriptedService({
      countTokens: untilAborted,
      async *generate(context) {
        yield await untilAborted(context);
      },
    });
    const { address, stop, ids } = await start(door, { services: [registration(InferenceService, service)] });
    const call = door.call(address, kind, format, right);
    call.write(door.frame(kind, empty(format)));
    call.end();
    await eventually("it runs", () => service.started > 0);
    const stopped = stop(0);
    expect(await call.outcome).toBe("unavailable");
    expect(await call.id).toMatch(made);
    await stopped;
    expect(ids).toEqual([await call.id]);
  });
});
