import { expect, test } from "@jest/globals";
import { textEvent } from "#src/fleet/engines/shared/answer/events.ts";
import { OutputQueue } from "#src/fleet/engines/shared/answer/output-queue.ts";

function queue() {
  const steered: string[] = [];
  const source = {
    pause: () => steered.push("pause"),
    resume: () => steered.push("resume"),
    cancel: () => steered.push("cancel"),
  };
  return { outputs: new OutputQueue(source), steered };
}

const output = (text: string, outputTokens: number) => ({
  events: [textEvent(text)],
  usage: { inputTokens: 1, outputTokens },
});

test("outputs that wait become one, with the last count", async () => {
  const { outputs } = queue();
  outputs.push(output("a", 1));
  outputs.push(output("b", 2));
  outputs.end();
  expect(await outputs.next()).toEqual({
    done: false,
    value: { events: [textEvent("a"), textEvent("b")], usage: { inputTokens: 1, outputTokens: 2 } },
  });
  expect(await outputs.next()).toEqual({ done: true, value: undefined });
});

test("an output reaches a waiting reader", async () => {
  const { outputs } = queue();
  const next = outputs.next();
  outputs.push(output("a", 1));
  expect(await next).toEqual({ done: false, value: output("a", 1) });
});

test("what was counted is read before the failure", async () => {
  const { outputs } = queue();
  outputs.push(output("a", 1));
  outputs.fail(new Error("broke"));
  expect((await outputs.next()).value).toEqual(output("a", 1));
  await expect(outputs.next()).rejects.toThrow("broke");
  expect((await outputs.next()).done).toBe(true);
});

test("a failure reaches a waiting reader", async () => {
  const { outputs } = queue();
  const next = outputs.next();
  outputs.fail(new Error("broke"));
  await expect(next).rejects.toThrow("broke");
});

test("a slow reader pauses the source until it reads on", async () => {
  const { outputs, steered } = queue();
  for (let i = 0; i < 300; i++) {
    outputs.push(output("a", i));
  }
  expect(steered).toEqual(["pause"]);
  expect((await outputs.next()).value?.events).toHaveLength(300);
  expect(steered).toEqual(["pause", "resume"]);
});

test("a reader that leaves stops the source", async () => {
  const { outputs, steered } = queue();
  outputs.push(output("a", 1));
  for await (const _ of outputs) {
    break;
  }
  expect(steered).toEqual(["cancel"]);
  outputs.push(output("b", 2));
  expect((await outputs.next()).done).toBe(true);
});
