import { expect, test } from "@jest/globals";
import { WriteGroups } from "#src/storage/sqlite/write-groups.ts";

/** A thread that answers as the disk does: a commit, and what waits for it, when the test says so. */
function startThread() {
  const calls: string[] = [];
  const commits: (() => void)[] = [];
  let kept: (() => void)[] = [];
  return {
    calls,
    commits,
    call(method: string): Promise<never> {
      calls.push(method);
      if (method === "keep") {
        return new Promise<never>((resolve) => kept.push(resolve as () => void));
      }
      if (method === "commit") {
        const units = kept;
        kept = [];
        return new Promise<never>((resolve) =>
          commits.push(() => {
            for (const done of [...units, resolve as () => void]) {
              done();
            }
          }),
        );
      }
      return Promise.resolve(undefined as never);
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("units that wait for one another are committed together, 32 at most, in the order in which they asked", async () => {
  const thread = startThread();
  const groups = new WriteGroups(thread);
  const done: number[] = [];
  for (let unit = 0; unit < 40; unit += 1) {
    void groups
      .begin()
      .then(() => groups.keep())
      .then(() => done.push(unit));
  }
  await turn();
  expect(thread.calls.filter((call) => call === "begin")).toHaveLength(40);
  expect(thread.commits).toHaveLength(2);
  expect(thread.calls.indexOf("commit")).toBe(64);
  expect(done).toEqual([]); // nothing is done before its commit
  thread.commits[0]?.();
  await turn();
  expect(done).toEqual(Array.from({ length: 32 }, (_, unit) => unit));
  thread.commits[1]?.();
  await turn();
  expect(done).toHaveLength(40);
});

test("a unit has its turn alone, and hands it on when it could not begin or is taken back", async () => {
  const thread = startThread();
  let isLocked = true;
  const groups = new WriteGroups({
    call(method) {
      const answer = thread.call(method);
      if (method === "begin" && isLocked) {
        isLocked = false;
        return Promise.reject(new Error("locked"));
      }
      return answer;
    },
  });
  const [first, second, third] = [groups.begin(), groups.begin(), groups.begin()];
  await expect(first).rejects.toThrow("locked");
  await second;
  await turn();
  expect(thread.calls.filter((call) => call === "begin")).toHaveLength(2);
  await groups.undo();
  await third;
  expect(thread.calls.at(-1)).toBe("begin");
});
