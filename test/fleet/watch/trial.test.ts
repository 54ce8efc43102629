import { describe, expect, test } from "@jest/globals";
import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { unrefusedInput } from "#src/fleet/engines/shared/faults.ts";
import { fixture, settle } from "../fixture.ts";

describe("an embedding server", () => {
  const model = { kind: "embedding" as const, dimensions: 2 };
  /** Counts the words of either kind. */
  const vectorOf = (input: string) => Float32Array.from(["word", "mark"].map((word) => input.split(word).length - 1));
  const state = ({ fleet }: ReturnType<typeof fixture>) => fleet.servers()[0]?.state;

  test("is fit once it has refused an input that is too long", async () => {
    const fleet = fixture([1], {}, model);
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("is unfit when it cuts one", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = () => ({ vectors: [engine.vector], inputTokens: 100 });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    expect(fleet.fleet.servers()[0]?.lastError).toContain("cuts long inputs");
  });

  test("may take more than is promised", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => ({ vectors: [vectorOf(input)], inputTokens: 200 });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("may take more than is promised and leave its refusal to us", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => {
        if (input.split(" ").length > 100) {
          throw unrefusedInput(0, 100, 164);
        }
        return { vectors: [vectorOf(input)], inputTokens: 60 };
      };
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.HEALTHY);
  });

  test("is unfit when it reads only the beginning of what it may take, whatever it counts", async () => {
    const fleet = fixture([1], {}, { ...model, context_length: 100 });
    for (const engine of fleet.engines) {
      engine.trial = (input) => ({ vectors: [vectorOf(input.slice(0, 100))], inputTokens: input.split(" ").length });
    }
    await settle();
    expect(state(fleet)).toBe(ServerState.UNHEALTHY);
    expect(fleet.fleet.servers()[0]?.lastError).toContain("cuts inputs silently that are shorter than 100 tokens");
  });
});
