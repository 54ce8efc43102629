import { expect, test } from "@jest/globals";
import { judge } from "../../scripts/audit.ts";

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });
const shipped = new Set(["left-pad", "koa", "pg"]);
const found = (severity: string) => ({ name: "left-pad", severity, range: "<1.3.0", via: [], fixAvailable: true });

test.each([
  ["nothing", report({}), true, ["no known vulnerabilities"]],
  ["a small one", report({ "left-pad": found("moderate") }), true, ["moderate: left-pad <1.3.0"]],
  ["a high one", report({ "left-pad": found("high") }), false, ["high: left-pad <1.3.0"]],
  [
    "a critical one among others",
    report({ koa: found("low"), pg: found("critical") }),
    false,
    ["low: koa <1.3.0", "critical: pg <1.3.0"],
  ],
  ["one in a tool of development", report({ jest: found("critical") }), true, ["no known vulnerabilities"]],
  // what npm 11 prints when a mirror has no audit, and when there is no network
  [
    "no audit",
    JSON.stringify({ message: "405 Method Not Allowed - POST", statusCode: 405, error: { summary: "" } }),
    true,
    ["not audited: 405 Method Not Allowed - POST"],
  ],
  [
    "no registry",
    JSON.stringify({ message: "request failed, reason: getaddrinfo ENOTFOUND", error: { summary: "" } }),
    true,
    ["not audited: request failed, reason: getaddrinfo ENOTFOUND"],
  ],
  ["no JSON", "npm error", true, ["not audited: the registry gave no report"]],
  ["no output", "", true, ["not audited: the registry gave no report"]],
])("%s", (_, output, ok, lines) => {
  expect(judge(output, false, shipped)).toEqual({ ok, lines });
});

test.each([
  ["no audit", JSON.stringify({ message: "405 Method Not Allowed - POST" })],
  ["no registry", JSON.stringify({ message: "getaddrinfo ENOTFOUND" })],
  ["no JSON", "npm error"],
  ["no output", ""],
])("a release fails with %s", (_, output) => {
  const { ok, lines } = judge(output, true, shipped);
  expect(ok).toBe(false);
  expect(lines).toEqual([
    expect.stringMatching(/^not audited: /),
    expect.stringContaining("a release has to be audited"),
  ]);
});

test("a release passes when nothing is known, and fails with what is", () => {
  expect(judge(report({}), true, shipped).ok).toBe(true);
  expect(judge(report({ koa: found("critical") }), true, shipped).ok).toBe(false);
});
