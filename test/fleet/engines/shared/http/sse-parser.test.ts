import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { SseParser } from "#src/fleet/engines/shared/http/sse-parser.ts";

function parse(...pieces: (string | Buffer)[]): string[] {
  const events: string[] = [];
  const parser = new SseParser((data) => events.push(data));
  for (const piece of pieces) {
    parser.push(Buffer.from(piece));
  }
  parser.end();
  return events;
}

test.each<[string, string, string[]]>([
  ["events", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["no space", "data:a\n\n", ["a"]],
  ["one space of two", "data:  a\n\n", [" a"]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["comments", ": ping\n\ndata: a\n\n:\n\n", ["a"]],
  ["other fields", "event: error\nid: 1\nretry: 5\ndata: a\n\n", ["a"]],
  ["several lines of data", "data: a\ndata: b\n\n", ["a\nb"]],
  ["empty data", "data:\n\n", [""]],
  ["no blank line at the end", "data: a\n\ndata: b", ["a", "b"]],
  ["characters of several bytes", "data: ü€😀\n\n", ["ü€😀"]],
  ["a line that only begins like data", "database: a\n\n", []],
])("%s", (_, input, events) => {
  expect(parse(input)).toEqual(events);
  expect(parse(...Array.from(Buffer.from(input), (byte) => Buffer.from([byte])))).toEqual(events);
});

test("reads the same wherever the pieces end", () => {
  const input = Buffer.from('data: {"a":"ü😀"}\r\n\r\n: ping\n\ndata: 1\ndata: 2\n\nevent: x\ndata: [DONE]\n\n');
  fc.assert(
    fc.property(fc.array(fc.nat(input.length)), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), input.length];
      const pieces = places.slice(1).map((end, i) => input.subarray(places[i], end));
      expect(parse(...pieces)).toEqual(['{"a":"ü😀"}', "1\n2", "[DONE]"]);
    }),
  );
});

test("a line without end is refused", () => {
  const parser = new SseParser(() => {});
  const piece = Buffer.alloc(1 << 20, "x");
  expect(() => {
    for (let i = 0; i < 20; i++) {
      parser.push(piece);
    }
  }).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringContaining("too long") }) }),
  );
});
