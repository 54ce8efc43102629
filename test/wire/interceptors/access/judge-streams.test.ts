import { Code, ConnectError, createContextValues, type StreamRequest, type StreamResponse } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { judgeStreams } from "#src/wire/interceptors/access/judge-streams.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const judged = [
  OverviewService.method.watchOverview,
  BooksService.method.streamReconcile,
  MeteringService.method.streamUsage,
] as const;
const revoked = failure(Reason.UNAUTHENTICATED, "Revoked.");

/** A stream that sends one message and then waits until its call is over. */
async function open(method: (typeof judged)[number] | typeof InferenceService.method.generate) {
  const clock = new ManualClock();
  const ended = new AbortController();
  const state = { refusal: undefined as unknown, asked: 0, ended: false };
  const gate = {
    admit: () => "",
    async judge() {
      state.asked += 1;
      if (state.refusal !== undefined) {
        throw state.refusal;
      }
    },
  };
  async function* messages() {
    try {
      yield { $typeName: method.output.typeName };
      await new Promise<void>((resolve) => ended.signal.addEventListener("abort", () => resolve()));
    } finally {
      state.ended = true;
    }
  }
  const request = { stream: true, method, header: new Headers(), contextValues: createContextValues() };
  const next = async () => ({ stream: true, message: messages() }) as unknown as StreamResponse;
  const response = await judgeStreams(gate, clock)(next)(request as unknown as StreamRequest);
  const stream = (response as StreamResponse).message[Symbol.asyncIterator]();
  await stream.next();
  return { clock, state, stream, end: () => ended.abort() };
}

describe("a running stream", () => {
  test.each(judged)("$name ends soon after its credential does", async (method) => {
    const { clock, state, stream, end } = await open(method);
    const rest = stream.next();
    rest.catch(() => {});
    await clock.advanceAsync(2500);
    state.refusal = revoked;
    await clock.advanceAsync(2500);
    expect(ConnectError.from(await rest.catch((error: unknown) => error)).code).toBe(Code.Unauthenticated);
    expect(state.asked).toBe(2);
    expect(clock.pending).toBe(0);
    end();
    await clock.advanceAsync(0);
    expect(state.ended).toBe(true);
  });

  test("that its caller left unread hands out nothing more", async () => {
    const { clock, state, stream } = await open(OverviewService.method.watchOverview);
    state.refusal = revoked;
    await clock.advanceAsync(2500);
    await expect(stream.next()).rejects.toBe(revoked);
    expect(clock.pending).toBe(0);
  });

  test("runs on while nobody can be asked, and is judged no more once it is over", async () => {
    const { clock, state, stream, end } = await open(OverviewService.method.watchOverview);
    const rest = stream.next();
    state.refusal = failure(Reason.LEDGER_UNAVAILABLE, "Try again.");
    await clock.advanceAsync(10_000);
    expect(state.asked).toBe(4);
    end();
    expect(await rest).toMatchObject({ done: true });
    expect(clock.pending).toBe(0);
  });

  test("of a generation goes on to its end", async () => {
    const { clock, state, end } = await open(InferenceService.method.generate);
    await clock.advanceAsync(10_000);
    expect(state.asked).toBe(0);
    end();
  });
});
