import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { commandGroups } from "#src/cli/commands.ts";
import { createProgram } from "#src/cli/program.ts";
import { runHere } from "../support/run-here.ts";

test.each([
  [["acounts"], "unknown command 'acounts'\n(Did you mean accounts?)"],
  [["accounts", "show"], "missing required argument 'account'"],
  [["accounts", "top-up", "a", "--usd", "5"], "required option '--ref <reference>' not specified"],
  [["accounts", "top-up", "a", "--usd", "0", "--ref", "r"], "above 0 and below 9007"],
  [["keys", "set-rpm", "k", "fast"], 'a whole number above 0, or "none"'],
  [["keys", "rotate", "k", "--overlap", "soon"], "such as 90s, 30m, 24h or 7d"],
  [["usage", "--by", "year"], "some of account, key, model, day"],
  [["core"], "required option '--config <file>' not specified"],
  [["facade"], "required option '--core <target>' not specified"],
  [["serve", "--log", "xml"], "Allowed choices are json, pretty"],
  [["sim", "--models", "a=clever"], "clever is none of plain, always, default_off"],
])("%j is refused with a reason", async (args, reason) => {
  const { code, output, notes } = await runHere(args);
  expect(code).not.toBe(0);
  expect(output).toBe("");
  expect(notes).toContain(reason);
});

test("help names every command", async () => {
  const { code, output } = await runHere(["--help"]);
  expect(code).toBe(0);
  const commands = "serve core facade sim check accounts keys prices usage receipt reconcile servers";
  for (const command of commands.split(" ")) {
    expect(output).toMatch(new RegExp(`^  ${command} `, "m"));
  }
});

test("help shows the commands in groups, each with two examples of commands that there are", async () => {
  const { output } = await runHere(["--help"]);
  expect([...output.matchAll(/^(\w+):$/gm)].map(([, title]) => title)).toEqual([
    ...["Options", "Run", "Money", "Fleet", "Operate", "Examples"],
  ]);
  for (const { title, examples } of commandGroups) {
    expect(output).toContain([`  ${title}`, ...examples.map((line) => `    ${line}`)].join("\n"));
    for (const line of examples) {
      const [, ...words] = line.split(" ");
      const { notes } = await runHere([...words, "--help"]);
      expect(notes).toBe("");
    }
  }
});

test("tells its version", async () => {
  expect(await runHere(["--version"])).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n?$/) });
});

test("without an operator token it says where it looked", async () => {
  const { code, notes } = await runHere(["accounts", "list"], { TOLLGATE_DATA_DIR: "/nonexistent" });
  expect(code).toBe(1);
  expect(notes).toContain("no operator token: set TOLLGATE_OPERATOR_TOKEN");
  expect(notes).toContain("/nonexistent/operator-token");
});

test("without a core it says so", async () => {
  const { code, notes } = await runHere(["accounts", "list", "--core", "127.0.0.1:1"], {
    TOLLGATE_OPERATOR_TOKEN: "t",
  });
  expect(code).toBe(1);
  expect(notes).toBe(
    "tollgate: no core answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1): start one, name it with --core, or speak TLS with --ca if it does",
  );
});

test("a configuration that is wrong is refused with its lines", async () => {
  const { code, notes } = await runHere(["core", "--config", "/nonexistent.yaml"]);
  expect(code).toBe(1);
  expect(notes).toBe("/nonexistent.yaml: cannot be read: ENOENT");
});

test("no option takes a secret, which every user of the machine could read", async () => {
  const program = await createProgram({ environment: {}, print() {}, note() {}, progress() {} });
  const optionsOf = (command: Command): string[] => [
    ...command.options.map(({ long }) => `${command.name()} ${long}`),
    ...command.commands.flatMap(optionsOf),
  ];
  expect(optionsOf(program).length).toBeGreaterThan(50);
  expect(optionsOf(program).filter((option) => /--.*(token|secret|pepper|password|credential)$/.test(option))).toEqual(
    [],
  );
});
