import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { runHere } from "../../support/run-here.ts";
import { runTollgate } from "../../support/tollgate.ts";
import { json, newAccount, refusal, service, site, startAdministered, stopAdministered } from "./administered.ts";
import { testAccounts } from "./commands/accounts.ts";
import { testKeys } from "./commands/keys.ts";
import { testLabels } from "./commands/labels.ts";
import { testPrices } from "./commands/prices.ts";
import { testReceipts } from "./commands/receipts.ts";
import { testServers } from "./commands/servers.ts";

beforeAll(startAdministered, 60_000);
afterAll(stopAdministered);

describe("accounts", testAccounts);
describe("keys", testKeys);
describe("receipts", testReceipts);
describe("labels", testLabels);
describe("prices", testPrices);
describe("servers", testServers);

test("unknown ids and a wrong token are told apart", async () => {
  expect((await refusal("accounts", "show", "nobody")).notes).toBe("tollgate: There is no account nobody.");
  expect((await refusal("keys", "revoke", "none")).notes).toBe("tollgate: There is no key none.");
  const id = await newAccount("--name", "Corvid Works");
  expect((await refusal("accounts", "show", "corvid")).notes).toBe(
    "tollgate: There is no account corvid. Like it: Corvid Works",
  );
  await json("keys", "create", id, "--name", "nightly build");
  expect((await refusal("keys", "revoke", "nightly")).notes).toBe(
    "tollgate: There is no key nightly. Like it: nightly build",
  );
  const stranger = await runHere(["accounts", "list", "--core", service.addresses.grpc ?? ""], {
    TOLLGATE_OPERATOR_TOKEN: "x",
  });
  expect(stranger.code).toBe(1);
  expect(stranger.notes).toContain("refuses the operator token");
});

test.each([
  ["receipts", "nobody"],
  ["usage", "--account", "nobody"],
  ["receipts", "--key", "nobody"],
])("a filter by what does not exist is an error, not an empty list: %s %s %s", async (...words) => {
  expect((await refusal(...words)).notes).toMatch(/^tollgate: There is no (account|key) nobody\.$/);
});

test("the program itself prints one JSON document, or the reason on standard error", async () => {
  const { stdout, stderr } = await runTollgate(
    site,
    "accounts",
    "list",
    "--core",
    service.addresses.grpc ?? "",
    "--json",
  );
  expect(JSON.parse(stdout).length).toBeGreaterThan(0);
  expect(stderr).toBe("");
  await expect(
    runTollgate(site, "accounts", "show", "nobody", "--core", service.addresses.grpc ?? ""),
  ).rejects.toMatchObject({ code: 1, stdout: "", stderr: "tollgate: There is no account nobody.\n" });
});
