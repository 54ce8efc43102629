import { expect, test } from "@jest/globals";
import { runHere } from "../../support/run-here.ts";

const environment = { TOLLGATE_OPERATOR_TOKEN: "secret" };
const list = (...args: string[]) => runHere(["accounts", "list", ...args], environment);

test.each([
  "192.0.2.1:50051",
  "core.example:50051",
  "dns:///core.example:50051",
  "ipv4:127.0.0.1:1,192.0.2.1:50051",
  "ipv6:[2001:db8::1]:50051",
  "[2001:db8::1]:50051",
])("the operator token is not sent in clear to %s", async (target) => {
  const { code, notes } = await list("--core", target);
  expect(code).toBe(1);
  expect(notes).toContain(`${target} is not this machine`);
  expect(notes).toContain("--insecure");
});

test.each([
  ["this machine", ["--core", "127.0.0.1:1"]],
  ["this machine by name", ["--core", "dns:///localhost:1"]],
  ["this machine's addresses", ["--core", "ipv4:127.0.0.1:1,127.0.0.2:1"]],
  ["this machine over IPv6", ["--core", "[::1]:1"]],
  ["another one that the operator allows", ["--core", "dns:///core.invalid:1", "--insecure"]],
])("%s is asked, and here nobody answers", async (_what, args) => {
  const { code, notes } = await list(...args);
  expect(code).toBe(1);
  expect(notes).toContain("no core answers");
});
