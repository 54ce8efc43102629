import { Metadata } from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { isEmpty, toHeaders, toMetadata } from "#src/wire/grpc/messages/metadata.ts";

test.each([
  ["text", { "x-name": "value" }, { "x-name": ["value"] }],
  [
    "two values",
    [
      ["x-name", "a"],
      ["x-name", "b"],
    ],
    { "x-name": ["a, b"] },
  ],
  ["bytes", { "x-bin": "AP8" }, { "x-bin": [Buffer.from([0, 255])] }],
  ["padded bytes", { "x-bin": "AP8=" }, { "x-bin": [Buffer.from([0, 255])] }],
  [
    "several bytes",
    [
      ["x-bin", "AA"],
      ["x-bin", "/w"],
    ],
    { "x-bin": [Buffer.from([0]), Buffer.from([255])] },
  ],
  ["a character that gRPC cannot carry", { "x-name": "caf\u00e9" }, { "x-name": ["caf?"] }],
  ["a name that gRPC cannot carry", { "x~name": "value", other: "kept" }, { other: ["kept"] }],
  ["capitals, and space around a value", { "X-Name": " value\t" }, { "x-name": ["value"] }],
  ["nothing", {}, {}],
] as [string, ConstructorParameters<typeof Headers>[0], Record<string, unknown[]>][])(
  "headers become metadata: %s",
  (_what, headers, expected) => {
    for (const given of [headers, new Headers(headers)]) {
      const metadata = toMetadata(given);
      const found = Object.keys(metadata.getMap()).map((name) => [name, metadata.get(name)]);
      expect(Object.fromEntries(found)).toEqual(expected);
    }
  },
);

test("metadata becomes headers, added to those that are there", () => {
  const metadata = new Metadata();
  metadata.add("x-name", "a");
  metadata.add("x-name", "b");
  metadata.add("x-bin", Buffer.from([0, 255]));
  const headers = toHeaders(metadata, new Headers({ "x-name": "z" }));
  expect([...headers]).toEqual([
    ["x-bin", "AP8"],
    ["x-name", "z, a, b"],
  ]);
});

test("headers are empty or not", () => {
  expect(isEmpty(new Headers())).toBe(true);
  expect(isEmpty(new Headers({ a: "" }))).toBe(false);
});
