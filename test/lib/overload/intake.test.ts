import { expect, test } from "@jest/globals";
import { BoundedIntake } from "#lib/overload/intake.ts";

/** An intake whose turns and time are made by hand. */
function createIntake(maxWaitMs = 100, msEach = 0) {
  let now = 0;
  const turns: (() => void)[] = [];
  const intake = new BoundedIntake({
    maxWaitMs,
    clock: { monotonic: () => now },
    nextTurn: (run) => turns.push(run),
    afterwards: (run) => {
      now += msEach;
      run();
    },
  });
  const begun: number[] = [];
  const refused: number[] = [];
  let asked = 0;
  return {
    intake,
    begun,
    refused,
    /** Asks for so many to begin, of one client. */
    ask(count: number, address = "192.0.2.1", isPatient = false) {
      for (let left = count; left > 0; left--) {
        const id = ++asked;
        const turn = intake.enter(() => address, isPatient);
        if (turn === undefined) {
          begun.push(id);
        } else {
          void turn.then((isTaken) => (isTaken ? begun : refused).push(id));
        }
      }
    },
    /** Has the turn take so many milliseconds more. */
    pass(ms: number) {
      now += ms;
    },
    /** Ends the turn, after so many milliseconds. */
    async turn(ms = 1) {
      now += ms;
      for (const run of turns.splice(0)) {
        run();
      }
      await Promise.resolve();
    },
    get isTurnAwaited() {
      return turns.length > 0;
    },
  };
}

test("what one turn can take begins at once, and a process at rest waits for no turn", async () => {
  const site = createIntake();
  expect(site.isTurnAwaited).toBe(false);
  site.ask(16);
  expect(site.begun).toHaveLength(16);
  await site.turn();
  expect(site.isTurnAwaited).toBe(false);
  site.ask(16);
  expect(site.begun).toHaveLength(32);
});

test("a burst begins in the order in which it came, sixteen a turn", async () => {
  const site = createIntake();
  site.ask(40);
  expect(site.begun).toHaveLength(16);
  expect(site.intake.waiting).toBe(24);
  await site.turn();
  expect(site.begun).toHaveLength(32);
  await site.turn();
  expect(site.begun).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  expect(site.intake.waiting).toBe(0);
});

test("a newcomer waits behind those that wait", async () => {
  const site = createIntake();
  site.ask(40);
  await site.turn();
  site.ask(1);
  expect(site.begun).toHaveLength(32);
  await site.turn();
  expect(site.begun.at(-1)).toBe(41);
});

test("newcomers are refused while the first one has waited too long, and those that wait are served", async () => {
  const site = createIntake(100);
  site.ask(16 * 5);
  await site.turn(60);
  await site.turn(60);
  site.ask(2);
  await site.turn(1);
  expect(site.refused).toEqual([81, 82]);
  await site.turn(1);
  expect(site.begun).toHaveLength(80);
  await site.turn(1);
  site.ask(1);
  expect(site.begun).toHaveLength(81);
});

test("it tells how long the first one has waited", async () => {
  const site = createIntake();
  expect(site.intake.waitMs).toBe(0);
  site.ask(40);
  await site.turn(7);
  expect(site.intake.waitMs).toBe(7);
});

test("networks take turns, so that a burst of one makes nobody else wait", async () => {
  const site = createIntake();
  site.ask(100);
  site.ask(1, "192.0.2.200"); // of the same network: behind it
  site.ask(1, "198.51.100.1");
  expect(site.begun).toHaveLength(16);
  await site.turn();
  expect(site.begun).toContain(102);
  expect(site.begun).not.toContain(101);
  expect(site.begun).toHaveLength(32);
});

test("a network whose first has waited too long has newcomers refused, and no other network has", async () => {
  const site = createIntake(100);
  site.ask(16 * 5);
  await site.turn(101);
  site.ask(1);
  site.ask(1, "198.51.100.1");
  await site.turn(1);
  expect(site.refused).toEqual([81]);
  expect(site.begun).toContain(82);
});

test("nobody is refused who begins in the next turn, however long this one is", async () => {
  const site = createIntake(100);
  site.ask(20);
  site.ask(1, "198.51.100.1");
  await site.turn(0);
  site.ask(20);
  site.ask(1, "198.51.100.1");
  site.pass(500);
  site.ask(1, "198.51.100.1");
  site.ask(1, "203.0.113.1");
  await site.turn();
  expect(site.refused).toEqual([]);
  expect(site.begun).toEqual(expect.arrayContaining([43, 44]));
});

test("a turn that takes long has no more begin in it", async () => {
  const slow = createIntake(100, 2);
  slow.ask(1);
  slow.pass(4);
  slow.ask(6);
  expect(slow.begun).toHaveLength(1);
  await slow.turn();
  expect(slow.begun).toHaveLength(3);
  await slow.turn();
  expect(slow.begun).toHaveLength(5);
});

test("what has begun comes to rest before the next begins", async () => {
  const intake = new BoundedIntake({ maxWaitMs: 100, clock: { monotonic: () => 0 } });
  const steps: string[] = [];
  const work = async (name: string) => {
    await intake.enter(() => "192.0.2.1");
    for (let step = 0; step < 3; step += 1) {
      steps.push(name);
      await undefined;
    }
  };
  const first = Array.from({ length: 16 }, () => work("first"));
  const others = [work("a"), work("b")];
  await Promise.all([...first, ...others]);
  expect(steps.slice(-6)).toEqual(["a", "a", "a", "b", "b", "b"]);
});

test("who is patient is never refused", async () => {
  const site = createIntake(100);
  site.ask(16 * 5);
  await site.turn(101);
  site.ask(1, "192.0.2.1", true);
  for (let turns = 0; turns < 4; turns += 1) {
    await site.turn(1);
  }
  expect(site.begun.at(-1)).toBe(81);
});

test("newcomers of all networks are refused where a round of them takes too long", async () => {
  const site = createIntake(100);
  for (let network = 0; network < 100; network += 1) {
    site.ask(1, `198.51.${network}.1`);
  }
  await site.turn(101);
  site.ask(1, "203.0.113.1");
  await site.turn(1);
  expect(site.refused).toEqual([101]);
});

test("it does not ask who comes where nobody waits", () => {
  const intake = new BoundedIntake({ maxWaitMs: 100, clock: { monotonic: () => 0 }, nextTurn: () => {} });
  const address = (): string => {
    throw new Error("asked");
  };
  expect(intake.enter(address)).toBeUndefined();
});
