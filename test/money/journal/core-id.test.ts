import { expect, test } from "@jest/globals";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Dice } from "../../simulation/world/dice.ts";
import { SimulatedDisk } from "../../simulation/world/disk.ts";
import { SimulatedProcess } from "../../simulation/world/process.ts";
import { Timeline } from "../../simulation/world/timeline.ts";
import { silentLogger } from "../../support/loggers.ts";

test("a core keeps its id over a power cut right after its first start, whatever becomes of its journal", () => {
  const timeline = new Timeline();
  const disk = new SimulatedDisk("a machine", timeline, new Dice(1));
  const open = () => {
    const process = new SimulatedProcess("a core", timeline, { offsetMs: 0, rate: 1 });
    const parts = { clock: process, random: new Dice(2), logger: silentLogger, disk: disk.of(process) };
    return { process, coreId: openJournal("/data/cores", parts).coreId };
  };
  const first = open();
  first.process.kill();
  disk.cutPower();
  expect(open().coreId).toBe(first.coreId);
});
