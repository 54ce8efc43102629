import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Command, Option } from "commander";
import { createProgram } from "#src/cli/program.ts";
import { databases, dialects } from "../money/databases.ts";
import { runHere } from "../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// What the reference says about each command, against a running program: no command may end with more than a reason.

/** Commands that run until they are ended; other tests start them. */
const staying = ["serve", "core", "facade", "docs", "sim", "sim stripe"];
/** Options that choose the core or the form of the answer. */
const common = ["--core", "--insecure", "--ca", "--cert", "--cert-key", "--json", "--wide"];

const newDatabase = databases();
const program = await createProgram({ environment: {}, print: () => {}, note: () => {}, progress: () => {} });
const commands = leaves(program).filter((command) => !staying.includes(nameOf(command)));

let site: Site;
let service: Tollgate;
let config: string;
let made = 0;

afterEach(async () => {
  await service.stop();
  await site.remove();
});

describe.each(dialects)("%s", (dialect) => {
  test("every documented command and option ends with 0, or with one line that says why", async () => {
    site = await createSite({
      TOLLGATE_STORAGE_URL: await newDatabase(dialect),
      TOLLGATE_OPERATOR_TOKEN: "the-token-of-the-operator-of-a-test",
      TOLLGATE_KEY_PEPPER: "the-pepper-of-all-keys-of-a-test-00",
    });
    config = await site.configure(freePorts);
    service = await startTollgate(site, "serve", "--config", config);
    const faults: string[] = [];
    for (const command of commands) {
      for (const extra of [[], ...command.options.filter(isOptional).flatMap(uses)]) {
        const line = [...(await needed(command)), ...(await Promise.all(extra.map(fill)))];
        const { code, output, notes } = await runHere([...line, ...coreOf(command)], site.env);
        const isReason = [1, 2].includes(code) && /^[^\n]+$/.test(notes) && !/internal|BigInt|^\s*at /i.test(notes);
        if (code !== 0 && !isReason) {
          faults.push(`${line.join(" ")}: ${code}: ${notes}${output}`);
        }
      }
    }
    expect(faults).toEqual([]);
  }, 300_000);
});

test("the commands are those of the reference", () => {
  expect(commands.map(nameOf)).toEqual(expect.arrayContaining(["check", "margin", "accounts create", "events types"]));
});

/** A command with its arguments and the options that it needs. */
async function needed(command: Command): Promise<string[]> {
  const names = [
    ...command.registeredArguments.filter(({ required }) => required).map((argument) => `<${argument.name()}>`),
    ...command.options.filter(({ mandatory }) => mandatory).flatMap((option) => uses(option)[0] ?? []),
  ];
  return [...nameOf(command).split(" "), ...(await Promise.all(names.map(fill)))];
}

/** The ways to use an option: one for each of its choices. */
function uses(option: Option): string[][] {
  const long = option.long ?? "";
  if (option.argChoices !== undefined) {
    return option.argChoices.map((choice) => [long, choice]);
  }
  return [option.isBoolean() ? [long] : [long, /<[^>]+>/.exec(option.flags)?.[0] ?? ""]];
}

/** A value of a placeholder; a word that is none stays. */
async function fill(word: string): Promise<string> {
  const name = /^<(.*)>$/.exec(word)?.[1];
  return name === undefined ? word : await (values[name] ?? missing(name))();
}

function missing(name: string): never {
  throw new Error(`values has nothing for <${name}>`);
}

const idOf = async (...command: string[]) => String(((await service.admin(...command)) as { id: unknown }).id);
const newAccount = () => idOf("accounts", "create");
const newWebhook = () => idOf("webhooks", "create", "--url", "https://hook.invalid/", "--events", "books.failed");

/** What stands for each placeholder: things that are there, and new for each use where a command may end them. */
const values: Readonly<Record<string, () => string | Promise<string>>> = {
  account: newAccount,
  key: async () => idOf("keys", "create", await newAccount()),
  model: () => "tollgate-sim/plain",
  models: () => "tollgate-sim/plain",
  ids: () => "tollgate-sim/plain",
  operator: () => idOf("operators", "create", "--name", `operator-${made++}`, "--role", "reader"),
  webhook: newWebhook,
  delivery: () => "018f0000-0000-7000-8000-000000000000",
  server: async () => ((await service.admin("servers", "list")) as { id: string }[])[0]?.id ?? "",
  request: () => "chatcmpl-none",
  id: () => "1",
  file: () => join(site.folder, `file-${made++}`),
  config: () => config,
  address: () => "somebody@example.com",
  session: () => "018f0000-0000-7000-8000-000000000000",
  url: () => `http://${service.addresses.admin}/readyz`,
  target: () => service.addresses.grpc ?? "",
  name: () => "a name",
  text: () => "some text",
  usd: () => "1.5",
  amount: () => "2",
  reference: () => `reference-${made++}`,
  time: () => "2026-01-31",
  span: () => "90m",
  n: () => "3",
  types: () => "books.failed",
  reason: () => "rate_limited",
  groups: () => "model,hour",
  month: () => "2026-10",
  percent: () => "12.5",
  "model=input/output": () => "tollgate-sim/plain=0.15/0.2",
  "name=value": () => "user=somebody",
};

function coreOf({ options }: Command): string[] {
  const asks = options.some(({ long }) => long === "--core");
  return asks ? ["--core", service.addresses.grpc ?? ""] : [];
}

function isOptional({ mandatory, long }: Option): boolean {
  return !mandatory && !common.includes(long ?? "");
}

/** The commands that do something: a group that has options does, too. */
function leaves(command: Command): Command[] {
  const below = command.commands.flatMap(leaves);
  return below.length === 0 || (command.parent !== null && command.options.length > 0) ? [command, ...below] : below;
}

function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
