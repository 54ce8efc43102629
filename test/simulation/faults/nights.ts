import { type Fault, second } from "./fault.ts";
import { goBack } from "./go-back.ts";

/** Faults that strike only where receipts leave the books. */
export const nightFaults: readonly Fault[] = [
  {
    name: "trouble while a day leaves",
    weight: 3,
    strike(world) {
      const { dice, night, history, server } = world;
      if (night?.mayTrouble !== true) {
        return;
      }
      const at = dice.pick(["sealed", "archived"] as const);
      const how = dice.pick(world.isSqlite ? (["kill"] as const) : (["kill", "sleep", "failover"] as const));
      const deeds = dice.between(0, 12);
      const ms = dice.exponential(100);
      if (how === "failover") {
        night.strikeAt("due", () => server.remember()); // the standby lacks the seal, and all that comes after it
      }
      night.strikeAt(at, (process) => {
        if (world.isHealed) {
          return;
        }
        history.fault(`${process.name}: ${how} once a day is ${at}`);
        if (how === "kill") {
          const machine = world.machines.find((one) => one.process === process);
          process.onDeath(() => machine?.startAfter(dice.exponential(3 * second)));
          process.killAfter(deeds);
        } else if (how === "sleep") {
          process.suspend(dice.between(20, 60) * second);
        } else if (world.mayGoBack()) {
          world.plan(ms, () => goBack(world, "the server fails over while a day leaves"));
        }
      });
    },
  },
  {
    name: "archive harmed",
    weight: 1,
    strike({ dice, night, history }) {
      const names = [...(night?.files.keys() ?? [])].filter((one) => !night?.harmed.has(one));
      if (night === undefined || names.length === 0) {
        return;
      }
      const name = dice.pick(names);
      const content = Buffer.from(night.files.get(name) ?? "");
      const how = dice.pick(["gone", "rotten", "cut"] as const);
      const at = dice.between(0, content.length - 1);
      content[at] = (content[at] ?? 0) ^ 1;
      night.harmed.set(name, { gone: undefined, rotten: content, cut: content.subarray(0, at) }[how]);
      history.fault(`the archive ${name} is ${how}`);
    },
  },
];
