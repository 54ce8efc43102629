import { expect, test } from "@jest/globals";
import { Batches, nextTurn } from "#src/delivery/webhooks/batches.ts";

test("jobs that come together are done together, so many at once, each with its own result", async () => {
  const batches: number[][] = [];
  const doubles = new Batches<number, number>(3, async (jobs) => {
    batches.push([...jobs]);
    await nextTurn();
    return jobs.map((job) => 2 * job);
  });
  const first = [1, 2, 3, 4].map((job) => doubles.add(job));
  await nextTurn();
  const later = doubles.add(5); // while the first three are done
  expect(await Promise.all([...first, later])).toEqual([2, 4, 6, 8, 10]);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test("jobs of a batch that fails are told so, and the next batch is done", async () => {
  const batches = new Batches<string, string>(2, async (jobs) => {
    if (jobs.includes("bad")) {
      throw new Error("the database is away");
    }
    return jobs;
  });
  const [first, second, third] = ["good", "bad", "next"].map((job) => batches.add(job));
  await expect(first).rejects.toThrow("away");
  await expect(second).rejects.toThrow("away");
  expect(await third).toBe("next");
  expect(await batches.add("after")).toBe("after");
});
