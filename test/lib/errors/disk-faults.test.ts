import { expect, test } from "@jest/globals";
import { explainDiskFault } from "#lib/errors/disk-faults.ts";

const fault = (fields: object, message = "raw") => Object.assign(new Error(message), fields);
const full = fault({ errcode: 13 }, "database or disk is full");
const circular = fault({});
circular.cause = circular;

test.each([
  ["the disk is full", fault({ code: "ENOSPC" }), "/data: the disk is full: free some space on it"],
  ["the disk is full for SQLite", full, "/data: the disk is full: free some space on it"],
  [
    "a migration met a full disk",
    new Error("Migration failed", { cause: full }),
    "/data: the disk is full: free some space on it",
  ],
  [
    "the user may not",
    fault({ code: "EACCES" }),
    expect.stringMatching(/^\/data: this user may not use it: give it to/),
  ],
  [
    "no folder for temporary files",
    fault({ errcode: 6410 }, "disk I/O error"),
    expect.stringMatching(/^\/data: the disk fails, or SQLite finds no folder for temporary files/),
  ],
  [
    "SQLite may not open it",
    fault({ errcode: 14 }),
    expect.stringMatching(/^\/data: .*give it to the user that tollgate runs as/),
  ],
  ["the disk is read-only", fault({ code: "EROFS" }), expect.stringMatching(/^\/data: the disk is read-only/)],
  ["the file is write-protected for SQLite", fault({ errcode: 8 + 256 }), expect.stringMatching(/write-protected/)],
  ["nothing of the disk", fault({ code: "ECONNREFUSED" }), "raw"],
  ["an error that caused itself", circular, "raw"],
])("an error says the file and what to do: %s", (_, error, message) => {
  expect(explainDiskFault("/data", error)).toMatchObject({ message });
});

test("what is no error stays as it is", () => {
  expect(explainDiskFault("/data", "raw")).toBe("raw");
});
