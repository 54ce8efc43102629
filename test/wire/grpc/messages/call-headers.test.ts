import { describe, expect, test } from "@jest/globals";
import { CallHeaders, type CallHeadersInit } from "#src/wire/grpc/messages/call-headers.ts";

// They stand in for the headers of fetch, so those say what is right.

const beginnings: readonly [what: string, init: CallHeadersInit | undefined][] = [
  ["nothing", undefined],
  ["an object", { Authorization: "Bearer k", "x-b": "2", "x-a": "1" }],
  [
    "pairs, one of them twice",
    [
      ["X-Name", " one "],
      ["x-name", "two\t"],
      ["empty", ""],
    ],
  ],
  ["headers", new Headers({ "x-b": "2", "X-A": "1" })],
  ["characters of one byte", { "x-latin": "gr\u00fcn" }],
];

describe("headers of a call", () => {
  test.each(beginnings)("are those of fetch when made of %s", (_, init) => {
    const [ours, theirs] = [new CallHeaders(init), new Headers(init as ConstructorParameters<typeof Headers>[0])];
    const act = (headers: Headers) => {
      const told: unknown[] = [[...headers], [...headers.keys()], [...headers.values()]];
      headers.set("X-A", "set ");
      headers.append("x-a", "more");
      headers.append("new", "one");
      headers.delete("X-B");
      headers.forEach((value, name) => void told.push([name, value]));
      return [
        ...told,
        headers.get("X-a"),
        headers.has("NEW"),
        headers.has("x-b"),
        headers.get("x-b"),
        [...headers.entries()],
      ];
    };
    expect(act(ours)).toEqual(act(theirs));
  });

  test.each([
    ["", "value"],
    ["a b", "value"],
    ["gr\u00fcn", "value"],
    ["x-a", "a\r\nb"],
    ["x-a", "a\0b"],
    ["x-a", "\u20ac"],
  ])("refuse %j: %j as those of fetch do", (name, value) => {
    expect(() => new Headers([[name, value]])).toThrow();
    expect(() => new CallHeaders([[name, value]])).toThrow(TypeError);
    expect(() => new CallHeaders().set(name, value)).toThrow(TypeError);
  });
});
