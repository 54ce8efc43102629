import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { StopSequences } from "#src/fleet/engines/shared/answer/stop-sequences.ts";

function read(sequences: string[], ...pieces: string[]) {
  const stops = new StopSequences(sequences);
  const shown = pieces.map((piece) => stops.push(piece)).join("") + stops.end();
  return { shown, stopped: stops.stopped };
}

test.each<[string[], string, string, boolean]>([
  [[], "abc", "abc", false],
  [["b"], "abc", "a", true],
  [["x"], "abc", "abc", false],
  [["cd", "bc"], "abcd", "a", true],
  [["abcx"], "ababc", "ababc", false],
  [["aab"], "aaab", "a", true],
])("%j in %s", (sequences, text, shown, stopped) => {
  expect(read(sequences, text)).toEqual({ shown, stopped });
  expect(read(sequences, ...text)).toEqual({ shown, stopped });
});

test("shows the same however the text is cut, and never part of a stop sequence", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 3 }), fc.array(letters), (sequences, pieces) => {
      const text = pieces.join("");
      const ends = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1);
      const { shown, stopped } = read(sequences, ...pieces);
      expect(stopped).toBe(ends.length > 0);
      // Piece by piece, the stop that is complete first wins.
      if (!stopped) {
        expect(shown).toBe(text);
      } else {
        expect(text.startsWith(shown)).toBe(true);
      }
    }),
  );
});
