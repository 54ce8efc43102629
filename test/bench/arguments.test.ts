import { expect, test } from "@jest/globals";
import { parseOptions } from "./arguments.ts";

test("runs everything at length unless told otherwise", () => {
  expect(parseOptions([])).toEqual({
    scenarios: [],
    quick: false,
    rounds: 3,
    duration: 2000,
    retakes: 4,
    minutes: undefined,
    systems: [],
    traces: undefined,
    against: undefined,
    out: "docs/performance",
    json: false,
    peer: undefined,
  });
});

test("a quick run is shorter and leaves no files", () => {
  expect(parseOptions(["stream", "--quick", "--systems", "tollgate"])).toMatchObject({
    scenarios: ["stream"],
    rounds: 2,
    duration: 1500,
    systems: ["tollgate"],
    out: undefined,
  });
});

test("takes a peer", () => {
  const args = ["--peer-url", "http://127.0.0.1:1/v1", "--peer-command", "run", "--peer-header", "a: b"];
  expect(parseOptions(args).peer).toEqual({ url: "http://127.0.0.1:1/v1", command: "run", headers: ["a: b"] });
});

test.each([
  [["fast"], 'no scenario "fast"; there are plain, stream'],
  [["--rounds", "0"], '--rounds must be a number above zero, not "0"'],
  [["--retakes", "-1"], "--retakes"],
  [["--seconds", "x"], '--seconds must be a number above zero, not "x"'],
  [["--peer-url", "http://127.0.0.1"], "--peer-url and --peer-command go together"],
  [["--fast"], "Unknown option '--fast'"],
])("refuses %j", (args, message) => {
  expect(() => parseOptions(args)).toThrow(message);
});
