import { expect, test } from "@jest/globals";
import { readMediaType } from "#lib/text/media-type.ts";

test.each([
  ["application/json", "application/json"],
  [" Application/JSON ; charset=utf-8", "application/json"],
  ["text/html;q=0.9;level=1", "text/html"],
  [";", ""],
  ["", ""],
])("%j is of the type %j", (header, type) => {
  expect(readMediaType(header)).toBe(type);
});
