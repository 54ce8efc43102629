import { expect, test } from "@jest/globals";
import { Door } from "#lib/door/door.ts";
import { eventually } from "../../../support/eventually.ts";
import { pause } from "../../../support/pause.ts";
import { connectDoor, long, right, start } from "./doors.ts";

test("of a network's large bodies over the Connect protocol 512 KiB are read in a turn", async () => {
  const due: (() => void)[] = [];
  const door = new Door({ listener: "connect", nextTurn: (run) => due.push(run) });
  const { address } = await start(connectDoor, { door });
  const message = long("json", 3 * 1024 * 1024);
  const call = connectDoor.call(address, "unary", "json", right);
  let outcome: string | undefined;
  void call.outcome.then((told) => {
    outcome = told;
  });
  call.write(message);
  call.end();
  let turns = 0;
  await eventually("it is answered", async () => {
    await pause(10, "nothing more is read in this turn");
    turns += due.length > 0 && outcome === undefined ? 1 : 0;
    for (const run of due.splice(0)) {
      run();
    }
    return outcome !== undefined;
  });
  expect(outcome).toBe("ok");
  expect(turns).toBeGreaterThanOrEqual(Math.floor(message.length / (512 * 1024)) - 1);
});
