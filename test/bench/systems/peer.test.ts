import { expect, test } from "@jest/globals";
import { parseHeaders } from "./peer.ts";

test("reads headers as they are written", () => {
  expect(parseHeaders(["X-Config: a: b", "authorization:Bearer k"])).toEqual({
    "x-config": "a: b",
    authorization: "Bearer k",
  });
});

test.each(["no colon", ": no name"])("refuses %s", (line) => {
  expect(() => parseHeaders([line])).toThrow(`a header must be "name: value", not "${line}"`);
});
