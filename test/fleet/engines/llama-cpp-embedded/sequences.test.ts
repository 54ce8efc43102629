import { expect, test } from "@jest/globals";
import type { Context, Sequence } from "#src/fleet/engines/llama-cpp-embedded/binding.ts";
import { Sequences } from "#src/fleet/engines/llama-cpp-embedded/sequences.ts";

const never = new AbortController().signal;

/** A context whose only sequence forgets as a test says. */
function one(clearHistory: () => Promise<void> = async () => {}): Sequences {
  const sequence = { clearHistory } as Sequence;
  return new Sequences({ getSequence: () => sequence } as Context, 1);
}

test("a sequence that could not forget what it read is there for the next request, which has it forget again", async () => {
  let tries = 0;
  const sequences = one(async () => {
    tries++;
    if (tries === 1) {
      throw new Error("the context failed");
    }
  });
  await expect(sequences.take("salt", never)).rejects.toThrow("the context failed");
  const seat = await sequences.take("salt", never);
  expect(tries).toBe(2);
  sequences.release(seat);
});

test("a request that has ended waits for no sequence", async () => {
  const sequences = one();
  const seat = await sequences.take(undefined, never);
  await expect(sequences.take(undefined, AbortSignal.abort(new Error("it left")))).rejects.toThrow("it left");
  sequences.release(seat);
  expect(await sequences.take(undefined, never)).toBe(seat); // nobody who left has it
});
